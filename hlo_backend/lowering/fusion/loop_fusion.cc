// Elementwise kernels: a fusion of kind kLoop, or one elementwise instruction.
#include "base/status.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

absl::StatusOr<isa::Kernel> EmitLoopFusion(const KernelContext& context,
                                           const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const Expression e, Expression::Build(i));
  ASSIGN_OR_RETURN(const Geometry g, Geometry::Of(e, 0, i));
  absl::Status failure;
  for (const int copies : UnrollCandidates(context, g)) {
    std::vector<FusionTiling> cuts;
    for (const int64_t target : StepTargets(context, g)) {
      ASSIGN_OR_RETURN(FusionTiling cut, CutFusion(i, e, g, target, copies));
      cuts.push_back(std::move(cut));
    }
    std::vector<Tiling> tilings;
    for (FusionTiling& cut : cuts) {
      cut.tiling.body = [&e, &g, &cut](codegen::CodeBuilder& b) {
        NestCode nest(e, g, cut.plan, cut.places, b);
        return nest.Run(NestCode::Hooks());
      };
      tilings.push_back(cut.tiling);
    }
    auto best = ChooseTiling(context, tilings);
    if (best.ok()) {
      auto kernel = FrameKernel(context, tilings[*best]);
      if (kernel.ok() || !absl::IsResourceExhausted(kernel.status())) {
        return kernel;
      }
      failure = kernel.status();
    } else if (absl::IsResourceExhausted(best.status())) {
      failure = best.status();
    } else {
      return best.status();
    }
  }
  return failure;
}

}  // namespace ptxla::lowering
