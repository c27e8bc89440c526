// The operation that a reduce folds its values by.
//
//   sum { a = f32[] parameter(0), b = ..., ROOT s = f32[] add(a, b) }
//   MonoidOf(*reduce->to_apply())   // Opcode::kAdd
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_MONOID_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_MONOID_H_

#include <optional>

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Add, multiply, maximum, minimum, and, or, xor.
bool IsMonoid(Opcode op);

// The one operation of a reduce body `(x, y) -> op(x, y)`; nothing for
// other bodies.
std::optional<Opcode> MonoidOf(const Computation& body);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_MONOID_H_
