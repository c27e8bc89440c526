// Taps of a window whose sums are in registers at once: boxes of neighbours,
// all of the last axis if they are few enough, then of the one before it.
//
//   GroupTaps(axes of 3 x 3)  ==>  one group of nine
//   GroupTaps(axes of 7 x 7)  ==>  seven of seven, one for each of the first
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_GROUPS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_GROUPS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/pooling/tap_runs.h"

namespace ptxla::lowering {

// Some neighbouring taps of one axis.
struct TapSpan {
  int64_t first = 0, count = 1;
  bool Has(int64_t tap) const { return first <= tap && tap < first + count; }
};

struct TapGroup {
  std::vector<TapSpan> outer;  // of all axes but the last one
  TapSpan last;

  const TapSpan& axis(size_t a) const {
    return a < outer.size() ? outer[a] : last;
  }
  int64_t Count() const;
};

// At least one axis.
std::vector<TapGroup> GroupTaps(const std::vector<WindowAxis>& axes);

// Does any of the run's results meet one of the taps?
bool Meets(const TapRun& run, const TapSpan& taps);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_GROUPS_H_
