// Elementwise operations that no vector unit has, made of those that it has:
//
//   divide, remainder   of integers: a quotient by f32 reciprocals, exact after
//                       two steps and corrections; of floats (remainder): what
//                       is left of a truncated quotient
//   atan2, asin, acos   a polynomial on [0, 1] (Abramowitz and Stegun 4.4.49)
//   tan, sinh, cosh, asinh, acosh, atanh, round-nearest-afz, power of integers,
//   mulhi
//   complex(x, y) that only real and imag read
//
//   exp, logistic       of bf16 beside other work, where the chip's policy says
//   so
//                       (fused_functions_f32): as f32
//
// Narrow floats are computed as f32, narrow integers as 32 bits. 64-bit types
// are x64-elimination's.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ELEMENTWISE_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ELEMENTWISE_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ElementwiseExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "elementwise-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ELEMENTWISE_EXPANDER_H_
