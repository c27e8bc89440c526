// Factorisations and triangular systems as loops over columns, of elementwise
// work and reduces on whole matrices (batches side by side):
//
//   cholesky           column by column, what it explains taken off the rest
//   triangular-solve   one row of the solution after the other
//   LuDecomposition    (custom call) the same with rows exchanged by pivots:
//                      {LU, pivots, permutation}
//   Qr                 (custom call) Householder reflections: {their vectors
//                      below R, taus}
//   Eigh               (custom call) Jacobi's rotations (jacobi_eigen.h):
//                      {eigenvectors, eigenvalues}
//   ProductOfElementaryHouseholderReflectors  Q of them, from the last one on
//
// A column is picked by comparing positions, not by a slice, so that an
// iteration is a few kernels. f32 inside for narrower floats; the first two
// take f64 and complex numbers too.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LINEAR_ALGEBRA_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LINEAR_ALGEBRA_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LinearAlgebraExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "linear-algebra-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_LINEAR_ALGEBRA_EXPANDER_H_
