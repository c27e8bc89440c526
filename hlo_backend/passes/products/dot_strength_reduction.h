// A product with one row or one column is a multiplication and a sum: the
// arrays would take a tile of 8 rows and more for one.
//
//   %r = bf16[1,1024] dot(bf16[1,512] %x, bf16[512,1024] %w)
//   ==> %v = f32[512,1024] broadcast(f32[512] reshape(%x)), dimensions={0}
//       %s = f32[1024] reduce(%v * %w, 0), dimensions={0}, to_apply=%add
//       %r = bf16[1,1024] reshape(bf16[1024] %s)
//
// So has the TPU's compiler (libtpu 0.0.42.1, v4 and v6e): for every such
// product of floats, whichever of the operands is the vector, however long;
// with batch dimensions where the sums run along the minor dimension (the
// scores of one query; its sum of values stays a product), or down fewer than
// 64 rows (what 8 experts made of a token, weighted). The matrix keeps its
// order: a product whose result would have to be transposed stays.
//
// Where nothing is summed it is a multiplication alone, whatever the order and
// whatever free dimensions both operands have (outer products; libtpu 0.0.42.1
// on v4, v5e and v6e: all nine that were tried, of one matrix and of batches):
//
//   %r = f32[16,64,128] dot(f32[16,64] %g, f32[16,64,128] %x),
//        lhs_batch_dims={0,1}, rhs_batch_dims={0,1}
//   ==> %r = f32[16,64,128] multiply(broadcast(%g), dimensions={0,1}, %x)
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_STRENGTH_REDUCTION_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_STRENGTH_REDUCTION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DotStrengthReductionPass : public Pass {
 public:
  absl::string_view name() const override { return "dot-strength-reduction"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_STRENGTH_REDUCTION_H_
