// Bundles and cycles that a kernel takes besides what it computes: its entry,
// and the control of its steps. The numbers are the chip's (chips/data).
#ifndef PTXLA_HLO_BACKEND_LOWERING_KERNEL_OVERHEADS_H_
#define PTXLA_HLO_BACKEND_LOWERING_KERNEL_OVERHEADS_H_

#include <cstdint>

#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// Its blocks come from outside, by DMA.
bool IsCopied(const Tiling& tiling, const isa::Window& w);
int CopiedWindows(const Tiling& tiling);

// Cycles that a step of a product waits for DMAs beyond its bundles: flags that
// come late, queues that start. Where everything that moves lies in VMEM no
// step has any. Vector work streams: the TPU's compiler gives its windows up to
// six buffers, and measured streams leave no room for waits.
int64_t StepSync(const KernelContext& context, const Tiling& tiling);

// Bundles that a step takes besides its body: starts and waits, index
// arithmetic and bounds checks. A kernel of one step per core has no loop: its
// part is in the entry.
int64_t StepOverhead(const KernelContext& context, const Tiling& tiling);

// Bundles beside its body that a step of a loop over streams takes: its starts
// and waits. `slots`: of its windows; more than two take more arithmetic.
// `flat`: of arrays of one dimension, whose blocks have one coordinate
// (`policy.flat_step`, `policy.flat_step_window`).
int64_t StreamStepOverhead(const chips::ChipSpec& chip, int copied_windows,
                           int slots, bool flat = false);

// Bundles before the only step of a kernel: the descriptor of each window that
// is copied (`policy.entry_window`). One that copies nothing has neither
// descriptors nor an index to set up: its entry is its own addresses.
int64_t OneStepEntry(const chips::ChipSpec& chip, int copied_windows);

// Bundles before the first step.
int64_t EntryOverhead(const KernelContext& context, const Tiling& tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KERNEL_OVERHEADS_H_
