// How many blocks of a stream are under way: a window that moves in every grid
// step gets as many slots as the TPU compiler gives it, so that small blocks
// hide the latency of their transfers.
//
// `policy.stream_buffers` slots (libtpu 0.0.42.1: six, by scoped VMEM over the
// bytes of its windows), fewer where they would take more than
// `policy.stream_vmem_share` of the scoped VMEM; two in any case, and where
// there are fewer than twice as many steps.
//
//   AddStreamBuffers(context, &tiling);  // before it is scored
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_BUFFERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_BUFFERS_H_

#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

void AddStreamBuffers(const KernelContext& context, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_BUFFERS_H_
