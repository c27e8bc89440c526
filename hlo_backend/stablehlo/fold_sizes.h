// The arithmetic of sizes, on constants: what a program with open dimensions
// computes of them before it makes an array.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_FOLD_SIZES_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_FOLD_SIZES_H_

#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo::mlir {

// The value of an instruction of at most 64 integers or pred whose operands are
// constants, or of the size of a dimension that is known. Nothing for what
// sizes are not computed with.
std::optional<Literal> FoldSizes(const Instruction& instruction);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_FOLD_SIZES_H_
