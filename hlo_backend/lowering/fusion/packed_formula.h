// Formulas in bf16 that the vector units compute two rows to a word, without
// expanding them to f32: each operation rounds, as HLO says.
//
// Which chips' compilers do so is `policy.packed_bf16` (tpu7x, in fusions; an
// operation that is fused with nothing is expanded there too).
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_PACKED_FORMULA_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_PACKED_FORMULA_H_

#include <optional>

#include "hlo_backend/lowering/fusion/geometry.h"

namespace ptxla::lowering {

// The instruction for an operation on packed words, if there is one.
std::optional<isa::Opcode> PackedOpcode(hlo::Opcode op);

// Every value of the formula is a bf16 register of the arrays' own, a constant,
// or made of such by operations of PackedOpcode.
bool IsPackedFormula(const Expression& e, const Geometry& g);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_PACKED_FORMULA_H_
