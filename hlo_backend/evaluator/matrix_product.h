// out[b] = lhs[b] x rhs[b] for row-major matrices [batch, m, k] and
// [batch, k, n], and the element types that products are computed in.
// Deterministic: Eigen on one thread with baseline instructions.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_MATRIX_PRODUCT_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_MATRIX_PRODUCT_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "hlo_backend/evaluator/value.h"
#include "hlo_backend/ir/attributes.h"

namespace ptxla::hlo {

struct ProductSize {
  int64_t batch, m, n, k;
};

// The type in which a product with this result is computed: f32 for all
// floats but f64, wrapping integers of 32 or 64 bits, complex.
PrimitiveType ProductType(PrimitiveType lhs, PrimitiveType rhs,
                          PrimitiveType result);

// Operands and result of one type: f32, f64, u32, u64, c64 or c128.
void MatrixProduct(PrimitiveType type, const ProductSize& size, const void* lhs,
                   const void* rhs, void* out);

// What the operands of a product go through before it: in TPU mode f32 values
// and the parts of c64 are rounded to bf16 at DEFAULT precision, f32 values are
// split in two bf16 parts at HIGH (three products), and f16, which the MXU does
// not have, is rounded to bf16; an explicit algorithm does the same in both
// modes.
enum class ProductPasses { kOne, kBf16, kBf16Times3 };
ProductPasses PassesOf(const PrecisionConfig& precision, PrimitiveType lhs,
                       PrimitiveType rhs, bool tpu_mode);

// The product with those passes. lhs and rhs hold ProductType elements and may
// be changed.
void MatrixProductInPasses(ProductPasses passes, PrimitiveType type,
                           const ProductSize& size, Value* lhs, Value* rhs,
                           void* out);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_MATRIX_PRODUCT_H_
