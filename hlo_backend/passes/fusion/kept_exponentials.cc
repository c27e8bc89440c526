#include "hlo_backend/passes/fusion/kept_exponentials.h"

#include <algorithm>

#include "hlo_backend/passes/fusion/finished_columns.h"

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
  if (i.opcode() != Opcode::kExp || !i.shape().IsArray() ||
      i.shape().type() != PrimitiveType::kF32 || i.shape().rank() < 3 ||
      i.user_count() < kReaders || i.IsRoot() ||
      std::none_of(i.users().begin(), i.users().end(),
                   [](const Instruction* u) { return IsFusedColumnSum(*u); })) {
    return false;
  }
  const Instruction* scores = ScoresBehind(i);
  return scores == nullptr || AreFinishedScores(*scores);
}

}  // namespace ptxla::hlo
