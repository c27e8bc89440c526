// A stack of f32 values that a loop fills, and of which only the roundings to
// bf16 are read behind it, is filled with these: what the forward loop of a
// scan keeps for products of its gradient. It takes half the bytes, and no
// kernel rounds it between the two loops.
//
//   while((.., f32[20,64,512] %s))      // body: dynamic-update-slice(%s, %x,
//   ..) convert(get-tuple-element(while))   // loop_operands.h
//   ==> while((.., bf16[20,64,512] %s)) // body: .. (%s, bf16[1,64,512]
//   convert(%x), ..)
//
// So does the TPU compiler (libtpu 0.0.42.1, v6e).
#ifndef PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESULTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESULTS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LoopResultsPass : public Pass {
 public:
  absl::string_view name() const override { return "loop-results"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LOOPS_LOOP_RESULTS_H_
