// What a step of a gradient's kernel (gradient_kernel.cc) has before its code:
// its block, the grid that it moves with, windows, and where in scratch its
// sums, its turned rows and packed results lie.
//
//   GradientPlanner planner(context, form, steps, args, turns, epilogue);
//   GradientPlan plan;
//   Tiling tiling = planner.Plan(step, &plan);    // without a body
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_PLAN_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_PLAN_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/gradient_steps.h"
#include "hlo_backend/lowering/convolutions/gradient_turns.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/peer_parts.h"
#include "hlo_backend/lowering/products/product_epilogue.h"

namespace ptxla::lowering {

// What codegen knows parts of scratch as: sums, turned rows, and from the last
// one on what others have.
inline constexpr int kGradientSums = 2;
inline constexpr int kTransposedRows = 3;
inline constexpr int kFirstOtherSpace = 4;

struct GradientPlan {
  GradientStep step;
  ConvolutionBlock block;
  ConvolutionBlock exchanged;  // where results are packed
  ConvolutionGrid planes;
  GridDims grid;
  std::vector<isa::Window> windows;  // of what is loaded
  int input = 0;                     // the input's window
  // Sums lie in VMEM until they are whole.
  bool accumulates = false;
  int64_t transposed_offset = 0, packed_offset = 0;  // bytes of scratch
  PeerParts peer;                                    // where cores share steps

  // Each core has sums of its own, of some of the steps.
  bool SharesSteps() const {
    return grid.megacore_dim >= grid.k && step.inner == 1;
  }
};

class GradientPlanner {
 public:
  // All must outlive it. `turns` and `epilogue` are those of the last plan.
  GradientPlanner(const KernelContext& context, const ConvolutionForm& form,
                  const GradientSteps& steps,
                  const std::vector<isa::KernelArg>& args, GradientTurns* turns,
                  ProductEpilogue* epilogue)
      : context_(context),
        form_(form),
        steps_(steps),
        args_(args),
        turns_(*turns),
        epilogue_(*epilogue) {}

  Tiling Plan(const GradientStep& step, GradientPlan* plan);

 private:
  int SharedSteps(const GradientPlan& plan) const;
  void PartPlanes(GradientPlan* plan) const;
  bool Accumulates(const GradientStep& step) const;

  const KernelContext& context_;
  const ConvolutionForm& form_;
  const GradientSteps& steps_;
  const std::vector<isa::KernelArg>& args_;
  GradientTurns& turns_;
  ProductEpilogue& epilogue_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_PLAN_H_
