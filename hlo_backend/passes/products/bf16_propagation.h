// Values that nothing but products read are kept as the arrays take them: f32
// rounded to bf16, in half of the bytes.
//
//   %h = f32[m,k] dot(%x, %w)                %h = f32[m,k] dot(%x, %w)
//   %y = f32[m,n] dot(%h, %v)           ==>  %n = bf16[m,k] convert(%h)
//                                            %y = f32[m,n] dot(%n, %v)
//
// The arrays round an f32 operand at default precision to bf16, so that every
// result stays bit by bit. Sums that the kernel of the value makes beside it
// read it before it is rounded. Movements between the value and the products
// become bf16 ones. XLA's pass of that name does it for all values that are
// rounded later; libtpu 0.0.42.1 keeps these so on every chip. What is no
// result of work in this computation (parameters, states of loops) stays: its
// conversion would be one more pass over it. But for what is transposed for
// convolutions, by a kernel that passes over it anyway: other lanes (an NCHW
// image), where a batch that only comes into rows is turned in the
// convolution's own kernel (analysis/turned_input.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BF16_PROPAGATION_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BF16_PROPAGATION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class Bf16PropagationPass : public Pass {
 public:
  absl::string_view name() const override { return "bf16-propagation"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

// Of a user of an f32 value: a product that rounds it, or a movement that only
// such products read.
bool RoundsForProducts(const Instruction& user);
// The value comes rounded: so do movements behind it, but for `except`.
void NarrowForProducts(Instruction* value, const Instruction* except);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_BF16_PROPAGATION_H_
