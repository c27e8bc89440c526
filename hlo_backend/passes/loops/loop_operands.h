// f32 arrays that a loop hands through unchanged, and of which only products at
// default precision are made, are rounded to bf16 before the loop: the weights
// of a recurrent layer. The arrays round them anyway, in every iteration; a
// kernel before the loop makes them, so they lie in VMEM where there is room
// (loop_residency.h).
//
//   while((.., f32[512,2048] %w))       // body: dot(%h, %w)
//   ==> %r = bf16[512,2048] convert(%w)
//       while((.., bf16[512,2048] %r))  // body: dot(%h, %r)
//
// So does the TPU compiler (libtpu 0.0.42.1, v5e and v6e), and so it does with
// stacks of which an iteration takes one: weights of layers that a scan walks,
// inputs of a recurrence, whatever their size.
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_OPERANDS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_OPERANDS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopOperandsPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-operands"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_OPERANDS_H_
