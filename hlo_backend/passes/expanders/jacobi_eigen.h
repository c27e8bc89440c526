// Eigenvalues of symmetric matrices by Jacobi's rotations, all pairs of rows in
// rounds of n / 2 (R. Brent and F. Luk, "The solution of singular-value and
// symmetric eigenvalue problems on multiprocessor arrays", 1985), as XLA
// expands its call `Eigh`: a round is elementwise work on quarters of the
// matrix and a rotation of their rows and columns by one place.
//
// XLA sweeps until nothing is left beside the diagonal; here a sweep count is
// set before, log2 n + 4 (ASSUMED: Jacobi converges quadratically in the end,
// random matrices of 4 to 64 rows are at f32's accuracy then), at most the
// call's.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_JACOBI_EIGEN_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_JACOBI_EIGEN_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct EigenPairs {
  Instruction* vectors = nullptr;  // f32[batch, n, n], one a column
  Instruction* values = nullptr;   // f32[batch, n]
};

// Of f32[batch, n, n], whose lower (or upper) triangle counts; sorted by value
// if asked for.
EigenPairs JacobiEigen(Builder* builder, Instruction* a, bool lower,
                       bool is_sorted, int64_t most_sweeps);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_JACOBI_EIGEN_H_
