// Which numbers the arrays multiply for operands of some types, and in how many
// passes.
//
//   operands             arrays take          where
//   bf16, f32, mixed     bf16 (f32 rows)      everywhere (v2, v3)
//   s8 x s8, s4, u4      s8, s32 sums         v5e, v5p, v6e
//   one fp8 format       it, f32 sums         e5m2, e4m3b11fnuz v5e, v5p, v6e;
//                                             e4m3fn, e5m2 tpu7x
//   all others           bf16 after vector operations, per K tile exact: sums
//                        of whole numbers are kept as s32
//
// f32 above default precision is split: part 0 is the value rounded to bf16,
// part 1 what that leaves, rounded, and so on. Pass (i, j) multiplies part i of
// the LHS with part j of the weights; those with i + j below the number of
// parts count: 3 at high precision, 6 at highest.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_NUMBERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_NUMBERS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/primitive_type.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

enum class ArrayNumbers : uint8_t {
  kBf16,
  kS8,
  kF8E5M2,
  kF8E4M3Fn,
  kF8E4M3B11
};

// Parts of operands of the types.
struct ProductPass {
  int lhs = 0, rhs = 0;
};

// True if products of operands of the type have kernels.
bool IsProductType(hlo::PrimitiveType type);

// An LHS that lies transposed goes through the XLU as bf16.
ArrayNumbers NumbersOf(const isa::MachineModel& model, hlo::PrimitiveType lhs,
                       hlo::PrimitiveType rhs, hlo::PrimitiveType result,
                       bool lhs_transposed);

// Smallest terms first, as the last additions round least.
std::vector<ProductPass> PassesOf(const hlo::DotAttrs& dot,
                                  hlo::PrimitiveType lhs,
                                  hlo::PrimitiveType rhs);

// The instructions for a part of an operand. `bf16`: packed rows, and parts are
// made by vector operations; else f32 rows.
isa::Opcode MatmulOf(ArrayNumbers numbers, bool bf16, int part);
isa::Opcode PushOf(ArrayNumbers numbers, bool bf16, int part, bool transposed);

// Vector operations that 8 rows of the type take on their way to bf16 (f32)
// numbers, beside packing two of them; 0: none.
int ConversionOperations(const isa::MachineModel& model,
                         hlo::PrimitiveType type);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_NUMBERS_H_
