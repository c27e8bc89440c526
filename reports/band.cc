#include "reports/band.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"

namespace ptxla::reports {

double CombinedEffect(Picoseconds value,
                      const std::vector<Picoseconds>& effects) {
  if (value.count() == 0) return 0;
  double sum = 0;
  for (Picoseconds effect : effects) {
    const double fraction = static_cast<double>(effect.count()) /
                            static_cast<double>(value.count());
    sum += fraction * fraction;
  }
  return std::sqrt(sum);
}

record::Band StepBand(Picoseconds value,
                      const std::optional<ValidatedError>& validated,
                      const std::vector<Picoseconds>& effects,
                      const std::string& subject) {
  record::Band band;
  double fraction;
  if (validated.has_value()) {
    fraction = validated->fraction;
    band.set_basis(absl::StrCat("validated: ", validated->rows));
  } else {
    fraction = std::max(CombinedEffect(value, effects), kLeastExtrapolatedBand);
    band.set_basis(absl::StrCat("EXTRAPOLATED: no ", subject, " row measured"));
  }
  const auto half = std::llround(static_cast<double>(value.count()) * fraction);
  band.set_value_ps(value.count());
  band.set_low_ps(std::max<int64_t>(0, value.count() - half));
  band.set_high_ps(value.count() + half);
  return band;
}

}  // namespace ptxla::reports
