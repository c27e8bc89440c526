#include "hlo_backend/passes/fusion/finished_columns.h"

#include "absl/algorithm/container.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

// Bytes per key: of the score of a query, for a line of them, and of an element
// of the key. ASSUMED: numbers that give the bounds in the header.
constexpr int64_t kBytesOfScores = 12, kBytesOfKeys = 16;
// Operations between scores and what is made of them.
constexpr int kFurthestScores = 16;
// Sequences, and groups of their heads.
constexpr int kBatchOfGroups = 2;

// Its heads lie in the rows of tiles, or did before a transpose.
bool HasHeadsInRows(const Instruction& dot, int operand) {
  const Instruction& o = *dot.operand(operand);
  if (!IsRowMajor(o.shape())) {
    return MembersInRows(o.shape(), OperandBatch(dot, operand)).has_value();
  }
  if (o.opcode() != Opcode::kTranspose || o.shape().rank() < 3 ||
      !o.operand(0)->shape().has_layout() ||
      !IsRowMajor(o.operand(0)->shape())) {
    return false;
  }
  const absl::Span<const int64_t> from = o.dimensions();
  const int rank = o.shape().rank();
  return from[rank - 1] == rank - 1 && from[rank - 2] != rank - 2;
}

}  // namespace

double RoomForRows(const chips::ChipSpec& chip) {
  return chip.Policy("row_vmem_share").value_or(0) *
         static_cast<double>(chip.vmem().scoped_limit.count());
}

bool FinishesKeys(int64_t count, int64_t depth, const chips::ChipSpec& chip) {
  const int64_t bytes =
      count * (kBytesOfScores * kLanes + kBytesOfKeys * depth);
  return static_cast<double>(bytes) <= RoomForRows(chip);
}

bool AreFinishedScores(const Instruction& dot) {
  const auto is_f32 = [](const Instruction& i) {
    return i.shape().type() == PrimitiveType::kF32;
  };
  const bool widened = dot.user_count() == 1 &&
                       dot.users()[0]->opcode() == Opcode::kConvert &&
                       is_f32(*dot.users()[0]);
  return (is_f32(dot) || widened) &&
         dot.operand(0)->shape().type() == PrimitiveType::kBf16 &&
         dot.operand(1)->shape().type() == PrimitiveType::kBf16;
}

const Instruction* ScoresBehind(const Instruction& value) {
  const Instruction* i = &value;
  for (int step = 0; step < kFurthestScores; ++step) {
    if (i->opcode() == Opcode::kGetTupleElement) i = i->operand(0);
    if (i->opcode() == Opcode::kDot || i->opcode() == Opcode::kFusion) {
      return DotOf(*i);
    }
    const auto operands = i->operands();
    const auto next = absl::c_find_if(operands, [](const Instruction* o) {
      return o->opcode() != Opcode::kBroadcast && !o->IsConstant() &&
             o->shape().type() != PrimitiveType::kPred;
    });
    if (!i->IsElementwise() || next == operands.end()) return nullptr;
    i = *next;
  }
  return nullptr;
}

bool FinishesScores(const Instruction& dot, int64_t count,
                    const chips::ChipSpec& chip) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  if (chip.Policy("chain_rows").has_value() ||
      !chip.Policy("softmax_rank").has_value() || IsKeysFirst(dot) ||
      attrs.lhs_batch.empty() || attrs.rhs_contracting.size() != 1 ||
      !AreFinishedScores(dot)) {
    return true;
  }
  const bool gathers = chip.Policy("finished_gathered_heads").has_value();
  for (int o = 0; o < dot.operand_count() && !gathers; ++o) {
    if (HasHeadsInRows(dot, o)) return false;
  }
  return FinishesKeys(
      count,
      dot.operand(1)->shape().dim(static_cast<int>(attrs.rhs_contracting[0])),
      chip);
}

bool FinishesColumns(const Instruction& dot, const Shape& keys, int64_t count,
                     const chips::ChipSpec& chip) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const bool of_groups = dot.shape().rank() > keys.rank();
  const bool is_finished = of_groups
                               ? keys.rank() >= kBatchOfGroups + 2 &&
                                     dot.shape().type() == PrimitiveType::kF32
                               : !IsKeysFirst(dot);
  if (!is_finished || !AreFinishedScores(dot) || attrs.lhs_batch.empty() ||
      attrs.rhs_contracting.size() != 1) {
    return false;
  }
  return FinishesKeys(
      count,
      dot.operand(1)->shape().dim(static_cast<int>(attrs.rhs_contracting[0])),
      chip);
}

}  // namespace ptxla::hlo
