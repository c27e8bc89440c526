// Elementwise kernels: a fusion of kind kLoop, or one elementwise instruction.
#include <utility>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/fusion_tiling.h"
#include "hlo_backend/lowering/fusion/packed_formula.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {
namespace {

// No result is one window of all steps.
bool EveryStepHasItsResults(const Tiling& tiling) {
  for (const isa::Window& w : tiling.windows) {
    if (w.direction == isa::Direction::kIn ||
        tiling.args[w.arg].space == isa::Space::kVmem) {
      continue;
    }
    bool moves = false;
    for (const isa::WindowDim& d : w.dims) moves = moves || d.grid_dim == 0;
    if (!moves) return false;
  }
  return true;
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitLoopFusion(const KernelContext& context,
                                           const hlo::Instruction& i) {
  ASSIGN_OR_RETURN(const Expression e, Expression::Build(i));
  ASSIGN_OR_RETURN(Geometry g, Geometry::Of(e, 0, i, context.model));
  g.packed_bf16 = context.chip.Policy("packed_bf16").value_or(0) > 0 &&
                  i.opcode() == hlo::Opcode::kFusion && IsPackedFormula(e, g);
  const auto make = [&](int copies, int64_t target,
                        bool) -> absl::StatusOr<Tiling> {
    ASSIGN_OR_RETURN(FusionTiling cut, CutFusion(i, e, g, target, copies));
    Tiling tiling = std::move(cut.tiling);
    // The cores of a chip share the outermost grid dimension.
    if (!tiling.grid.empty() && EveryStepHasItsResults(tiling)) {
      tiling.megacore_dim = 0;
    }
    tiling.body = [&e, &g, plan = std::move(cut.plan),
                   places = std::move(cut.places)](codegen::CodeBuilder& b) {
      NestCode nest(e, g, plan, places, b);
      return nest.Run(NestCode::Hooks());
    };
    return tiling;
  };
  return EmitWidestThatFits(context, g, i.opcode() == hlo::Opcode::kFusion,
                            make);
}

}  // namespace ptxla::lowering
