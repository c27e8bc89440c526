// The block of a convolution that one grid step computes: what fits into VMEM
// and into a bounded number of bundles, and is done first.
//
// Candidates cut the outermost axis first, then the next one, then rows, as
// planes that follow one another in memory arrive in long runs. Each is scored
// by the arrays' and vector units' time of its step against the DMA of its
// windows (memory_model/dma_pipeline.h).
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TILING_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TILING_H_

#include <cstdint>
#include <functional>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/tap_packing.h"
#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

struct ConvolutionLimits {
  int64_t step_bundles = 0;  // longest straight code of a step
  // The input is read in VMEM where it lies: borders are met in the first and
  // the last step of one axis only.
  bool input_in_place = false;
  bool one_box = false;  // results that are walked in place
};

struct ConvolutionCost {
  int64_t step_cycles = 0;   // of the body of a step
  int64_t packed_bytes = 0;  // of scratch, for taps that share K tiles
  int64_t turned_bytes = 0;  // for an input that is turned
  ProductTile tile;          // how its MXUs share it: rows, columns, K
};

// Are results, or arrays of their dimensions, walked where they lie in VMEM?
bool WalksInVmem(const hlo::Instruction& kernel, const ConvolutionForm& form);

// Time of the step's body, by its resources.
ConvolutionCost CostOf(const ConvolutionForm& form, const TapPacking& packing,
                       const ConvolutionBlock& block, const ArrayShape& arrays,
                       const isa::MachineModel& machine);

// Time of a kernel whose every step is as long as the average one; `body`:
// cycles of a step without its DMA. From `limit` on it may be less than that,
// but no less than `limit`: for searches that ask whether something is faster.
Picoseconds TimeOf(const KernelContext& context, const Tiling& tiling,
                   int64_t body, Picoseconds limit = Picoseconds(INT64_MAX));

// `windows_of` makes the tiling of a block without its code.
// ResourceExhausted if none fits.
absl::StatusOr<ConvolutionBlock> ChooseConvolutionBlock(
    const KernelContext& context, const ConvolutionForm& form,
    const TapPacking& packing, const ArrayShape& arrays,
    const ConvolutionLimits& limits,
    const std::function<Tiling(const ConvolutionBlock&)>& windows_of);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_CONVOLUTION_TILING_H_
