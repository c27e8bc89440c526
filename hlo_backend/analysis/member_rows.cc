#include "hlo_backend/analysis/member_rows.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/product_chain.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
std::optional<MemberRows> MembersInRows(const Shape& operand, int64_t batch) {
  const int rank = operand.rank();
  if (batch < 1 || rank != batch + 2 || !operand.has_layout() ||
      operand.layout().tiles.empty() ||
      operand.layout().tiles[0].dimensions.size() != 2 ||
      operand.layout().tiles[0].dimensions[0] > 8 ||
      (operand.type() != PrimitiveType::kBf16 &&
       operand.type() != PrimitiveType::kF32)) {
    return std::nullopt;
  }
  const DimVector& minor_to_major = operand.layout().minor_to_major;
  if (minor_to_major[0] < batch || minor_to_major[1] != batch - 1) {
    return std::nullopt;
  }
  MemberRows result;
  result.lanes = static_cast<int>(minor_to_major[0]);
  result.rows = 2 * rank - 3 - result.lanes;
  // From major to minor: the other batch dimensions in order, as one, before or
  // behind the rows.
  int64_t next = 0;
  for (int k = rank - 1; k >= 2; --k) {
    if (minor_to_major[k] == result.rows) {
      if (k != 2 && k != rank - 1) return std::nullopt;
    } else if (minor_to_major[k] != next++) {
      return std::nullopt;
    }
  }
  return result;
}

int64_t MemberStepBytes(const Instruction& dot, int64_t rows) {
  const Shape& s = dot.shape();
  const Shape& right = dot.operand(1)->shape();
  const int batch = OperandBatch(dot, 1);
  const int64_t sharing = SharingMembers(dot);
  const int64_t members =
      batch == 0 ? 1 : std::min<int64_t>(right.dim(batch - 1), 8);
  const int64_t k = RoundUpTo<int64_t>(
      right.dim(dot.attrs<DotAttrs>().rhs_contracting[0]), 128);
  const int64_t n = RoundUpTo<int64_t>(s.dim(s.rank() - 1), 128);
  // f32 in two planes of scratch and two windows; the operand as if it were.
  return RoundUpTo<int64_t>(members, 8) * n *
         (16 * sharing * RoundUpTo<int64_t>(rows, kMemberRowUnit) + 2 * 4 * k);
}

bool ReadsRowsBeyond(const Instruction& kernel, const Instruction& value) {
  const Instruction* dot = DotOf(kernel);
  if (dot == nullptr) return false;
  for (int o = 0; o < 2; ++o) {
    const Instruction* source = dot->operand(o);
    if (dot != &kernel) {
      while (source->opcode() == Opcode::kConvert) source = source->operand(0);
      if (source->opcode() != Opcode::kParameter) continue;
      source = kernel.operand(static_cast<int>(source->parameter_number()));
    }
    if (source != &value) continue;
    const auto members = MembersInRows(value.shape(), OperandBatch(*dot, o));
    if (members && value.shape().dim(members->rows) % kMemberRowTile != 0) {
      return true;
    }
  }
  return false;
}

}  // namespace ptxla::hlo
