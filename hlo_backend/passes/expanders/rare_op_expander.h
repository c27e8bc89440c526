// Instructions that programs seldom have, as plainer ones:
//
//   async-start, -update, -done   of a computation: a call. Those of scheduled
//                                 modules stay
//   copy                          of a tuple: a tuple of copies
//   domain                        its operand
//   get-dimension-size            of a static dimension: a constant
//   scaled-dot                    a dot of operands times their scales
//   stochastic-convert            to bf16 from f32: bits, compared
//   reshape                       to another float type: a convert before it
//   dynamic-slice, -update-slice  starts of fewer than 32 bits become s32
//   rng                           random bits of a fixed state made uniform or
//                                 normal, as the evaluator has it
//   AwsNeuronGelu, ...            custom calls of other compilers that are
//                                 functions (framework_calls.h)
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_OP_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_OP_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class RareOpExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "rare-op-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RARE_OP_EXPANDER_H_
