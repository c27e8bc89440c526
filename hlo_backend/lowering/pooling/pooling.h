// Kernels of sliding windows: reduce-window (pooling, cumulative sums) and
// select-and-scatter (the gradient of a maximum's pooling).
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_POOLING_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_POOLING_H_

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/pooling/pool_form.h"

namespace ptxla::lowering {

// A window's maximum (sum ...) per result plane: columns of the window are
// combined once and shared by the windows that overlap.
absl::StatusOr<isa::Kernel> EmitReduceWindow(const KernelContext& context,
                                             const PoolForm& form);

// Every plane takes in the one before it. The running value stays in registers
// inside of a step, in scratch between steps.
absl::StatusOr<isa::Kernel> EmitCumulative(const KernelContext& context,
                                           const PoolForm& form);

// For each window the number of the tap that was selected, in scratch; then
// each plane adds up the sources of the windows that selected it.
absl::StatusOr<isa::Kernel> EmitSelectAndScatter(const KernelContext& context,
                                                 const PoolForm& form);

// The gradient of depthwise weights: each register of the gradient of the
// result times those of the input that its taps met, sums in registers. Rows of
// them are added up in the end.
absl::StatusOr<isa::Kernel> EmitDepthwiseGradient(const KernelContext& context,
                                                  const PoolForm& form);

// A depthwise convolution, or the gradient of its weights, on the vector units.
absl::StatusOr<isa::Kernel> EmitDepthwise(const KernelContext& context,
                                          const hlo::Instruction& conv);

// Whichever of them the instruction is.
absl::StatusOr<isa::Kernel> EmitPooling(const KernelContext& context,
                                        const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_POOLING_H_
