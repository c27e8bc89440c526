#include "hlo_backend/passes/fusion/read_operands.h"

#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

bool IsWeight(const Instruction& value) {
  return value.opcode() == Opcode::kConvert && !value.IsRoot() &&
         value.shape().type() == PrimitiveType::kBf16 &&
         value.operand(0)->opcode() == Opcode::kParameter &&
         value.operand(0)->shape().type() == PrimitiveType::kF32;
}

}  // namespace

std::vector<Instruction*> ReadOperands(Instruction* product) {
  std::vector<Instruction*> inside;
  for (int k = 0; k < product->operand_count(); ++k) {
    Instruction* value = product->operand(k);
    if (!IsWeight(*value) && SharedMatrix(*product, k) == nullptr) continue;
    if (value->user_count() > 1 || value->IsRoot()) {
      value = product->parent()->AddLike(*value, value->shape(),
                                         {value->operand(0)});
      product->ReplaceOperand(k, value);
    }
    inside.push_back(value);
  }
  return inside;
}

}  // namespace ptxla::hlo
