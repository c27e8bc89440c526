// Products of matrices that the program returns as they are, and updates that
// are done in their order.
//
//   %p = f32[512,256] dot(%x, %dy)                     // a result
//   %g = f32[256,512] transpose(%p), dimensions={1,0}
//   %n = f32[256,512] add(%m, %g)                      // a result
//   ==> %n is done as f32[512,256] add(transpose(%m), %p)
//
// The TPU compiler assigns layouts along uses: the result fixes the product's,
// that goes through the transpose to the work behind it and from there to all
// that is read there, so also through a broadcast number (a learning rate) to
// other updates that read the same broadcast. Weights and states are copied
// into that order before the update, their new values out of it behind it.
// (libtpu 0.0.42.1 on v5e and v6e: 31 steps with SGD, momentum and Adam.)
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_PRODUCTS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_PRODUCTS_H_

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Is the value one of several results of its computation, as it is?
bool IsOneOfResults(const Instruction& value);

// Is this a transpose of a product of two matrices that is one of the results?
bool IsTurnedResultProduct(const Instruction& transpose);

// Elementwise work of the entry that is to be done transposed since it hangs
// together with such a transpose, or with that of a gradient of a convolution's
// weights (gradient_order.h); and the dimensions of that transpose. Empty for
// other computations.
absl::flat_hash_map<const Instruction*, DimVector> WorkInProductOrder(
    Computation* c);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_PRODUCTS_H_
