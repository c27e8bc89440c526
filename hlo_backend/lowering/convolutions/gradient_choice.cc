#include "hlo_backend/lowering/convolutions/gradient_choice.h"

#include <algorithm>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/convolutions/convolution_tiling.h"
#include "hlo_backend/lowering/tiling_log.h"

namespace ptxla::lowering {
namespace {

// ASSUMED: steps whose straight code is so many times as long as the policy
// wishes are taken where nothing shorter fits.
constexpr int64_t kLongestGradient = 8;

}  // namespace

// Cut once more only where the first axis is not enough; where results are
// packed, also where it is faster, as what two steps share is packed twice.
absl::StatusOr<GradientStep> GradientChoice::Best(
    bool may_pack, bool may_box, const std::vector<std::string>& tried) {
  tried_ = tried;
  const std::vector<SecondCut> seconds = steps_.SecondCuts();
  const auto first_that_fits = [&](const std::vector<FirstCut>& firsts) {
    for (const SecondCut& second : seconds) {
      Take(second, firsts, false);
      if (best_.has_value()) return;
    }
  };
  const std::vector<FirstCut> taps = steps_.TapCuts();
  first_that_fits(taps);
  if (may_pack && steps_.packing().packs()) {
    for (const SecondCut& second : seconds) Take(second, taps, true);
  }
  if (!best_.has_value()) {
    first_that_fits(steps_.OutputCuts());
    if (may_box) Take({}, steps_.BoxCuts(), false);
  }
  if (best_.has_value()) return *best_;
  return absl::ResourceExhaustedError(
      absl::StrCat("%", form_.convolution->name(),
                   ": no block of the convolution fits into VMEM"));
}

bool GradientChoice::WasTried(const Tiling& tiling) const {
  return std::find(tried_.begin(), tried_.end(), tiling.note) != tried_.end();
}

void GradientChoice::Take(const SecondCut& second,
                          absl::Span<const FirstCut> firsts, bool packed) {
  const int64_t bundles =
      chips::ProductStepBundles(context_.chip) * (packed ? kPackedSteps : 1);
  bool found = false;
  for (int64_t longest = bundles;
       !found && longest <= kLongestGradient * bundles; longest *= 2) {
    for (const FirstCut& first : firsts) {
      for (const GradientStep& step : steps_.Of(second, first, packed)) {
        const int64_t cycles = turns_.Cycles(step);
        if (cycles > longest || !turns_.CanTake(step)) continue;
        const Tiling tiling = plan_(step);
        if (VmemBytes(context_, tiling) > VmemBudget(context_)) continue;
        if (WasTried(tiling)) continue;
        found = true;
        const Picoseconds time =
            TimeOf(context_, tiling, cycles,
                   best_.has_value() ? best_time_ : Picoseconds(INT64_MAX));
        if (context_.log != nullptr) ++context_.log->considered;
        if (best_.has_value() && time >= best_time_) continue;
        best_ = step;
        best_time_ = time;
      }
    }
  }
}

}  // namespace ptxla::lowering
