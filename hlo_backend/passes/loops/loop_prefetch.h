// Arrays in HBM that a loop only reads, and reads several times over, are
// copied to VMEM before it, where memory-space-assignment has left room beside
// all that runs inside:
//
//   %w = while(tuple(..., %keys)), body: ... dynamic-slice(keys, i) ...
//   ==> %s = copy-start(%keys), ... kernels ..., %d = {..S(1)} copy-done(%s),
//       %w = while(tuple(..., %d))
//
// A copy is made where kernels before the loop hide it: those that move as many
// bytes. Where nothing runs before it (a program that is one loop over its
// arguments), iterations read HBM, as those of the TPU compiler do.
//
// What counts is the bytes that kernels take in all iterations, of loops inside
// of it too: weights of a recurrence come as often as it steps, keys and values
// of an attention in chunks as often as there are chunks of queries. A stack of
// layers that a scan walks once stays where it is.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_PREFETCH_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_PREFETCH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopPrefetchPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-prefetch"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_PREFETCH_H_
