// Gives dots the fewest dimensions: none of size 1 but a lone row, column or
// depth, and one free dimension on the left and one contracting dimension where
// several follow one another.
//
//   bf16[8,128,512] dot(bf16[8,128,64], bf16[64,512])      // rows [8,128]
//   ==> reshape(bf16[1024,512] dot(reshape(bf16[1024,64]), bf16[64,512]))
//
// Sums of integers are of 32 bits, and narrowed behind.
//
// Dimensions are joined only where the reshapes are bitcasts of tiled arrays:
// never the minor one, and the one before it only in whole tiles of 8 rows.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_CANONICALIZER_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_CANONICALIZER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class DotCanonicalizerPass : public Pass {
 public:
  absl::string_view name() const override { return "dot-canonicalizer"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DOT_CANONICALIZER_H_
