// The paces (EpiloguePace) at which a product's code is tried, one after
// another, until one fits the registers: thriftier and thriftier.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PACES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PACES_H_

#include "absl/types/span.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// What the vector units do under the matmuls beside sums and epilogues:
// compute an operand, convert one of a slow type, or split f32 values.
absl::Span<const EpiloguePace> PacesOf(bool computes, bool converts,
                                       bool splits);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PACES_H_
