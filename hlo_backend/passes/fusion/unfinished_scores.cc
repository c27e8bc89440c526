#include "hlo_backend/passes/fusion/unfinished_scores.h"

#include <algorithm>

#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"
#include "hlo_backend/passes/fusion/row_leaves.h"

namespace ptxla::hlo {
namespace {

constexpr int kMostDeep = 8;  // operations behind a product

// libtpu 0.0.42.1, v4 to v5p: scores are stored in bf16, and scaled in the
// kernel of their softmax, where rows are no longer (2,048 are, 3,072 not);
// masked there where they are no longer than the second number (1,024 are,
// 2,048 not).
constexpr int64_t kLongestNarrow = 2048;
constexpr int64_t kLongestMasked = 1024;

bool IsMadeOfScores(const Instruction& i, int64_t length,
                    const chips::ChipSpec& chip, int depth) {
  if (i.opcode() == Opcode::kDot) return !FinishesScores(i, length, chip);
  return depth < kMostDeep && i.IsElementwise() &&
         std::any_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return o->shape().SameDims(i.shape()) &&
                              IsMadeOfScores(*o, length, chip, depth + 1);
                     });
}

// Made of a product in bf16 and of numbers; also of other arrays if `masked`.
bool IsOfNarrowScores(const Instruction& i, bool masked, int depth) {
  if (i.opcode() == Opcode::kDot) {
    return i.shape().type() == PrimitiveType::kBf16;
  }
  if (i.opcode() == Opcode::kBroadcast && i.operand(0)->IsConstant()) {
    return true;
  }
  if (depth == kMostDeep || !i.IsElementwise() || i.operand_count() == 0) {
    return masked;
  }
  return std::all_of(i.operands().begin(), i.operands().end(),
                     [&](const Instruction* o) {
                       return IsOfNarrowScores(*o, masked, depth + 1);
                     });
}

}  // namespace

UnfinishedScores::UnfinishedScores(const std::vector<Instruction*>& order,
                                   const chips::ChipSpec& chip)
    : chip_(chip) {
  for (const Instruction* dot : order) {
    if (dot->opcode() != Opcode::kDot) continue;
    for (int k = 0; k < dot->operand_count(); ++k) LeaveTo(*dot, k);
  }
}

void UnfinishedScores::LeaveTo(const Instruction& dot, int operand) {
  const Instruction* last = dot.operand(operand);
  const Instruction* division =
      last->opcode() == Opcode::kConvert ? last->operand(0) : last;
  if (division->opcode() != Opcode::kDivide || last->user_count() != 1 ||
      division->user_count() != 1 || last->IsRoot()) {
    return;
  }
  const Instruction* divisor = division->operand(1);
  if (divisor->opcode() != Opcode::kBroadcast || divisor->user_count() != 1) {
    return;
  }
  const Instruction* sum = divisor->operand(0);
  if (sum->opcode() != Opcode::kReduce || !ReducesInTiles(*sum) ||
      sum->user_count() != 1 || !sum->operand(0)->IsElementwise() ||
      !PrologueForm(dot, operand)) {
    return;
  }
  left_.insert({last, division, divisor});
  divisors_.insert(sum);
}

bool UnfinishedScores::IsMadeOf(const Instruction& i, int64_t length) const {
  return IsMadeOfScores(i, length, chip_, 0);
}

bool UnfinishedScores::StaysBehindProduct(const Instruction& i,
                                          int64_t length) const {
  if (!IsMadeOf(i, length)) return false;
  return length > kLongestNarrow ||
         !IsOfNarrowScores(i, length <= kLongestMasked, 0);
}

}  // namespace ptxla::hlo
