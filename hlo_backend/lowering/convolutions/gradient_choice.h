// The steps that the kernel of a gradient (gradient_kernel.cc) takes: of those
// that fit into VMEM the ones that are done first.
//
//   ASSIGN_OR_RETURN(GradientStep step,
//                    GradientChoice(context, form, steps, turns, plan)
//                        .Best(may_pack, may_box, tried));
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_CHOICE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_CHOICE_H_

#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "base/units.h"
#include "hlo_backend/lowering/convolutions/gradient_steps.h"
#include "hlo_backend/lowering/convolutions/gradient_turns.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

class GradientChoice {
 public:
  // All must outlive it. `plan` makes the tiling of a step without its code.
  GradientChoice(const KernelContext& context, const ConvolutionForm& form,
                 const GradientSteps& steps, const GradientTurns& turns,
                 std::function<Tiling(const GradientStep&)> plan)
      : context_(context),
        form_(form),
        steps_(steps),
        turns_(turns),
        plan_(std::move(plan)) {}

  // `may_pack`: results may share tiles; `may_box`: planes of a step's result
  // need not follow one another; `tried`: notes of tilings whose code did not
  // fit the registers. ResourceExhausted if no other step fits.
  absl::StatusOr<GradientStep> Best(bool may_pack, bool may_box,
                                    const std::vector<std::string>& tried);

 private:
  // The best steps so far, or those with these cuts.
  void Take(const SecondCut& second, absl::Span<const FirstCut> firsts,
            bool packed);
  bool WasTried(const Tiling& tiling) const;

  const KernelContext& context_;
  const ConvolutionForm& form_;
  const GradientSteps& steps_;
  const GradientTurns& turns_;
  const std::function<Tiling(const GradientStep&)> plan_;
  absl::Span<const std::string> tried_;
  std::optional<GradientStep> best_;
  Picoseconds best_time_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_CHOICE_H_
