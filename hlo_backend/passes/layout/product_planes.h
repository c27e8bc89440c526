// Products of many points with small matrices (rotations, cameras, blends of
// transforms) would have a few numbers of each point in the lanes. They are
// made with their operands and the free dimensions of the right one in the
// order whose result fills its tiles.
//
//   %d = f32[1024,256,3] dot(f32[1024,3] %x, f32[256,3,3] %r)
//   ==>
//   %t = f32[3,256,3] transpose(%r), dimensions={1,0,2}
//   %p = f32[3,256,1024] dot(%t, %x)
//   %d = f32[1024,256,3] transpose(%p), dimensions={2,1,0}
//
// Only where half as many bytes move, and where what reads the product goes on
// in any order: elementwise work, reduces, parts of it, transposes. A product
// whose columns are joined to rows again is a matrix as it is.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_PRODUCT_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_PRODUCT_PLANES_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct ProductPlanes {
  Instruction* product;
  // The transpose of `product` that the old one is.
  DimVector order;
};

// `product` is null: it stays as it is.
ProductPlanes MadeOfPlanes(Builder& b, Instruction* dot, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_PRODUCT_PLANES_H_
