#include "hlo_backend/passes/fusion/row_kinds.h"

#include "absl/algorithm/container.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/member_rows.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/fusion/finished_columns.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/fusion/row_statistics.h"

namespace ptxla::hlo {
namespace {

// An operand lies as it is named, or its members lie in rows of tiles.
bool IsReadable(const Instruction& dot, int o) {
  const Shape& shape = dot.operand(o)->shape();
  return IsRowMajor(shape) ||
         MembersInRows(shape, OperandBatch(dot, o)).has_value();
}

}  // namespace

bool RowsFit(const Instruction& dot, const chips::ChipSpec& chip) {
  const Shape& shape = dot.shape();
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  if (shape.rank() < 2 || !IsRowMajor(shape) || !IsReadable(dot, 0) ||
      !IsReadable(dot, 1) || dot.user_count() == 0 ||
      attrs.rhs_contracting.size() != 1 ||
      dot.operand(1)->shape().rank() !=
          static_cast<int>(attrs.rhs_batch.size()) + 2) {
    return false;
  }
  for (const Instruction* o : dot.operands()) {
    if (o->shape().type() != PrimitiveType::kBf16 &&
        o->shape().type() != PrimitiveType::kF32) {
      return false;
    }
  }
  const double share = RoomForRows(chip);
  if (OnlyStatistics(dot, chip) ||
      !FinishesScores(dot, shape.dim(shape.rank() - 1), chip)) {
    return false;
  }
  if (!IsRowMajor(dot.operand(0)->shape()) ||
      !IsRowMajor(dot.operand(1)->shape())) {
    return static_cast<double>(MemberStepBytes(dot, kMemberRowUnit)) <= share;
  }
  const int64_t n = RoundUpTo<int64_t>(shape.dim(shape.rank() - 1), 128);
  const int64_t k = RoundUpTo<int64_t>(
      dot.operand(1)->shape().dim(attrs.rhs_contracting[0]), 128);
  const int64_t bytes = kBytesOfRows * 16 * n + 2 * 4 * n * k;
  return static_cast<double>(bytes) <= share;
}

int RowKinds::DimOfRows(int d) const {
  const int reduced = dot_.shape().rank() - (of_columns_ ? 2 : 1);
  return d < reduced ? d : d + 1;
}

bool RowKinds::HasRowShape(const Shape& s) const {
  const Shape& full = dot_.shape();
  if (s.rank() != full.rank() - 1) return false;
  for (int d = 0; d < s.rank(); ++d) {
    if (s.dim(d) != full.dim(DimOfRows(d))) return false;
  }
  return true;
}

bool RowKinds::IsFree(const Instruction& o) const {
  return !members_.contains(&o) && IsFreeOfRows(o);
}

// Values per row that another kernel has made.
bool RowKinds::IsRowsOfOthers(const Instruction& broadcast) const {
  const Instruction* source = broadcast.operand(0);
  return !of_columns_ && HasRowShape(source->shape()) &&
         !members_.contains(source) &&
         source->shape().type() == PrimitiveType::kF32 &&
         IsRowMajor(source->shape()) && IsIncreasing(broadcast.dimensions()) &&
         broadcast.dimensions().back() == source->shape().rank() - 1;
}

// A leaf: stored before the dot's rows are finished.
bool RowKinds::IsLeafOf(const Instruction& o, bool full) const {
  if (members_.contains(&o)) return true;
  if (IsFree(o)) return full || o.opcode() != Opcode::kIota;
  if (o.opcode() == Opcode::kBroadcast) {
    const Instruction* source = o.operand(0);
    if (source->shape().IsScalar()) return true;
    return full && !members_.contains(source) &&
           (IsSharedByRows(o, dot_) || IsRowsOfOthers(o));
  }
  if (o.IsConstant()) return o.shape().IsScalar();
  return full && o.shape().SameDims(dot_.shape()) && IsRowMajor(o.shape()) &&
         BitWidth(o.shape().type()) <= 32;
}

bool RowKinds::IsOfReduce(const Instruction& i) const {
  return absl::c_any_of(i.operands(), [&](const Instruction* o) {
    const auto found = members_.find(o);
    return found != members_.end() && found->second == RowKind::kRow;
  });
}

bool RowKinds::ReadArrays() const {
  return absl::c_any_of(members_, [&](const auto& member) {
    return member.first != &dot_ &&
           absl::c_any_of(member.first->operands(), [&](const Instruction* o) {
             return !members_.contains(o) &&
                    o->opcode() != Opcode::kBroadcast &&
                    o->shape().SameDims(dot_.shape()) && !IsFree(*o);
           });
  });
}

RowKind RowKinds::KindOf(const Instruction& i) const {
  if (!i.control_predecessors().empty() || !i.control_successors().empty()) {
    return RowKind::kNone;
  }
  if (i.opcode() == Opcode::kReduce) {
    const bool of_rows =
        of_columns_ ? IsMemberColumnReduce(i, dot_) : IsRowReduce(i, dot_);
    return of_rows && members_.contains(i.operand(0)) ? RowKind::kRow
                                                      : RowKind::kNone;
  }
  if (i.opcode() == Opcode::kBroadcast) {
    if (!i.shape().SameDims(dot_.shape()) ||
        !HasRowShape(i.operand(0)->shape())) {
      return RowKind::kNone;
    }
    for (int d = 0; d < i.operand(0)->shape().rank(); ++d) {
      if (i.dimensions()[d] != DimOfRows(d)) return RowKind::kNone;
    }
    return RowKind::kFull;
  }
  const bool full = i.shape().SameDims(dot_.shape());
  if (!IsLoopElementwise(i) || !IsRowMajor(i.shape()) ||
      (!full && !HasRowShape(i.shape()))) {
    return RowKind::kNone;
  }
  for (const Instruction* o : i.operands()) {
    if (!IsLeafOf(*o, full)) return RowKind::kNone;
  }
  if (full) return RowKind::kFull;
  // The TPU compiler goes on behind a reduce that is broadcast as it is: work
  // on the values of rows is another kernel, and so is what needs it.
  return IsOfReduce(i) ? RowKind::kNone : RowKind::kRow;
}

}  // namespace ptxla::hlo
