// A product whose rows are pooled group by group, and nothing else (the mean
// over the tokens of each sequence, the maximum over the points of each cloud),
// as the product of each group with the shared matrix: where its operands leave
// room for it, its kernel then reduces the columns of each member
// (IsMemberColumnReduce), and the product itself is not stored.
//
//   %d = f32[32768,1024] dot(f32[32768,128] %x, f32[128,1024] %w)
//   %r = f32[32,1024,1024] reshape(%d)
//   f32[32,1024] reduce(%r, -inf), dimensions={1}, to_apply=max
//   ==>
//   %s = f32[32,128,1024] broadcast(%w), dimensions={1,2}
//   %r = f32[32,1024,1024] dot(reshape(%x), %s), batch {0}
//
// Elementwise work may stand between, with scalars and values of columns.
// Groups of fewer rows than the arrays take to load other weights stay as they
// are: every member loads them again. The TPU compiler (libtpu 0.0.42.1)
// reduces such products in their kernels, too.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POOLED_PRODUCTS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POOLED_PRODUCTS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class PooledProductsPass : public Pass {
 public:
  absl::string_view name() const override { return "pooled-products"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_POOLED_PRODUCTS_H_
