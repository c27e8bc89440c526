#include "hlo_backend/lowering/products/operand_source.h"

#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;
using hlo::PrimitiveType;

// The value behind a chain of conversions that the arrays make anyway, or that
// lose nothing.
const Instruction* BehindConverts(const Instruction* i) {
  const auto wide = [](PrimitiveType t) {
    return t == PrimitiveType::kF32 || t == PrimitiveType::kBf16;
  };
  while (i->opcode() == hlo::Opcode::kConvert && wide(i->shape().type()) &&
         IsProductType(i->operand(0)->shape().type())) {
    i = i->operand(0);
  }
  return i;
}

}  // namespace

absl::StatusOr<OperandSource> SourceOfOperand(const Instruction& dot, int o,
                                              bool in_fusion) {
  OperandSource s;
  const Instruction* operand = dot.operand(o);
  const Instruction* source = operand;
  if (!in_fusion) {
    s.arg = o;
  } else {
    source = BehindConverts(operand);
    s.sliced = hlo::SlicedMembers(dot, o);
    if (s.sliced != nullptr) source = s.sliced->operand(0);
    if (const Instruction* matrix = hlo::SharedMatrix(dot, o)) {
      s.own_batch = matrix->shape().rank() - 2;
      source = BehindConverts(matrix);
      if (source->opcode() != hlo::Opcode::kParameter) {
        return NotLowered(dot, "a computed operand that members share");
      }
    }
    if (source->opcode() != hlo::Opcode::kParameter) {
      source = s.value = operand;
    } else {
      s.arg = static_cast<int>(source->parameter_number());
    }
  }
  s.shape = s.sliced != nullptr ? &s.sliced->shape() : &source->shape();
  const PrimitiveType type = source->shape().type();
  const bool computed = s.value != nullptr;
  if (!IsProductType(type) || (computed && hlo::BitWidth(type) < 16)) {
    return NotLowered(
        dot, absl::StrCat("an operand of type ", hlo::PrimitiveTypeName(type)));
  }
  return s;
}

}  // namespace ptxla::lowering
