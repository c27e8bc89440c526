// Memory of a product's kernel that its code may alias, for the code builder:
// windows and scratch of the operands, then those of the epilogue.
//
//   b.Store(ProductSpace::kSums, address, offset, value);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_SPACES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_SPACES_H_

namespace ptxla::lowering {

struct ProductSpace {
  enum : int {
    kLhs,
    kRhs,
    kSums,
    kTransposedLhs,
    kConvertedLhs,
    kConvertedRhs,
    kFirstEpilogue
  };
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_SPACES_H_
