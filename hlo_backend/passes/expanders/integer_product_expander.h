// Products and convolutions of integers of 16 to 64 bits, which no array
// multiplies, from those of bytes: an operand is a sum of digits of 8 bits with
// a sign, and of their products those count that reach the bits of the result.
//
//   s32[m,n] dot(s32[m,k] a, s32[k,n] b)
//   ==> a0 b0 + (a0 b1 + a1 b0 << 8) + ... + (a0 b3 + ... + a3 b0 << 24)
//
// Ten products for two operands of 32 bits, 36 for two of 64; an operand of 16
// bits has three digits (two, where the result has 16 bits itself). No kernel
// takes windows of bytes: those of a convolution become bf16, which holds them
// exactly. Their sums are f32, which holds whole numbers up to 2^24.
//
//   s32[b,f] convolution(s8[b,f] x, s8[k] w)
//   ==> s32[b,f] convert(f32[b,f] convolution(bf16[b,f] x, bf16[k] w))
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INTEGER_PRODUCT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INTEGER_PRODUCT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class IntegerProductExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "integer-product-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_INTEGER_PRODUCT_EXPANDER_H_
