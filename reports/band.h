// The band of a headline number and what it is based on (design §7.4).
#ifndef PTXLA_REPORTS_BAND_H_
#define PTXLA_REPORTS_BAND_H_

#include <optional>
#include <string>
#include <vector>

#include "base/units.h"
#include "record/run_record.pb.h"

namespace ptxla::reports {

// The 90th percentile error of the validated rows nearest to a prediction.
struct ValidatedError {
  double fraction = 0;
  std::string rows;  // "4 v5e training steps"
};

// Root of the sum of squares of the effects, as a fraction of `value`; each
// effect is the change of the value when one ASSUMED number moves by 20 %.
double CombinedEffect(Picoseconds value,
                      const std::vector<Picoseconds>& effects);

// With validated rows: their error. Without: EXTRAPOLATED, the combined effect
// of the ASSUMED numbers, at least 10 %. `subject` is what was not measured
// ("v5e-8").
record::Band StepBand(Picoseconds value,
                      const std::optional<ValidatedError>& validated,
                      const std::vector<Picoseconds>& effects,
                      const std::string& subject);

inline constexpr double kLeastExtrapolatedBand = 0.10;

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_BAND_H_
