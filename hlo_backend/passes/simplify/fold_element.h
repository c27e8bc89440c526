// One element of an elementwise instruction on constants.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_FOLD_ELEMENT_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_FOLD_ELEMENT_H_

#include <vector>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Computes element `e` of the result from element `e` of the operands (element
// 0 of splats and scalars). False for opcodes that are not folded: whatever
// rounds in a way of its own (exp, tanh ...), and complex types. Integers wrap;
// a division by zero is not folded. Floats are computed in double and rounded
// once, which for +, -, *, / on types up to f32 is the exact result rounded.
bool FoldElement(const Instruction& instruction,
                 const std::vector<const Literal*>& operands, int64_t e,
                 Literal* result);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_FOLD_ELEMENT_H_
