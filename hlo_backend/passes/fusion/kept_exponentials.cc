#include "hlo_backend/passes/fusion/kept_exponentials.h"

#include <algorithm>

namespace ptxla::hlo {
namespace {

// A forward pass has two: the sum and the weights.
constexpr int kReaders = 3;

bool IsFusedColumnSum(const Instruction& u) {
  return u.opcode() == Opcode::kReduce && u.dimensions().size() == 1 &&
         u.dimensions()[0] == u.operand(0)->shape().rank() - 2;
}

}  // namespace

bool IsKeptExponential(const Instruction& i) {
  return i.opcode() == Opcode::kExp && i.shape().IsArray() &&
         i.shape().type() == PrimitiveType::kF32 && i.shape().rank() >= 3 &&
         i.user_count() >= kReaders && !i.IsRoot() &&
         std::any_of(i.users().begin(), i.users().end(),
                     [](const Instruction* u) { return IsFusedColumnSum(*u); });
}

}  // namespace ptxla::hlo
