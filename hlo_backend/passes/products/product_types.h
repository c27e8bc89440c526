// Products and convolutions whose operand types no array multiplies, on types
// that one does; those of integers alone are integer-product-expander's.
//
//   pred dot(pred, pred)  ->  f32 dot(bf16, bf16) != 0    (or of ands: a count)
//   f32 dot(f32, s32)     ->  f32 dot(f32, f32), that side at highest precision
//   s32 dot(s8, pred)     ->  s32 dot(s8, s8)
//
// A pred beside a float is a bf16, which holds it exactly; integers of more
// than 8 bits beside a float are f32, and their precision is the highest, as
// bf16 would lose what they count (f64, where the result is). Types on which
// arrays multiply, 64-bit products and complex numbers stay.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_TYPES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_TYPES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ProductTypesPass : public Pass {
 public:
  absl::string_view name() const override { return "product-types"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_PRODUCT_TYPES_H_
