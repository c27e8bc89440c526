// Functions of the dialect chlo that HLO has no instruction for, as formulas.
// Internal to the reader. Narrow types are computed in f32.
//
// Each takes floating point tensors of one shape, else InvalidArgument. Where
// a function has poles it gives what XLA's library gives: infinity or NaN.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_SPECIAL_FUNCTIONS_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_SPECIAL_FUNCTIONS_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo::mlir {

// log |Gamma(x)| and its derivative. C. Lanczos, "A precision approximation of
// the Gamma function", SIAM J. Numer. Anal. 1 (1964), with g = 7 and 9 terms;
// below 1/2 by reflection.
absl::StatusOr<Instruction*> EmitLgamma(Builder* b, Instruction* x);
absl::StatusOr<Instruction*> EmitDigamma(Builder* b, Instruction* x);
// Hurwitz' zeta, sum of (q + k)^-x, by the Euler-Maclaurin formula.
absl::StatusOr<Instruction*> EmitZeta(Builder* b, Instruction* x,
                                      Instruction* q);
// The n-th derivative of digamma: (-1)^(n+1) n! zeta(n + 1, x).
absl::StatusOr<Instruction*> EmitPolygamma(Builder* b, Instruction* n,
                                           Instruction* x);
// exp(-|x|) I1(x): Chebyshev series of S. Moshier's Cephes library (1984).
absl::StatusOr<Instruction*> EmitBesselI1e(Builder* b, Instruction* x);
// 1 - erf(x), exact for large x too: rational functions of the same library.
absl::StatusOr<Instruction*> EmitErfc(Builder* b, Instruction* x);
// The number next to x on the way to y.
absl::StatusOr<Instruction*> EmitNextAfter(Builder* b, Instruction* x,
                                           Instruction* y);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_SPECIAL_FUNCTIONS_H_
