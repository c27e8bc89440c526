#include "hlo_backend/passes/fusion/finished_columns.h"

#include "base/units.h"
#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kLanes = 128;
// Sequences, and groups of their heads.
constexpr int kBatchOfGroups = 2;

}  // namespace

double RoomForRows(const chips::ChipSpec& chip) {
  return chip.Policy("row_vmem_share").value_or(0) *
         static_cast<double>(chip.vmem().scoped_limit.count());
}

bool FinishesColumns(const Instruction& dot, const Shape& keys, int64_t count,
                     const chips::ChipSpec& chip) {
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  const bool of_groups = dot.shape().rank() > keys.rank();
  const bool is_finished = of_groups
                               ? keys.rank() >= kBatchOfGroups + 2 &&
                                     dot.shape().type() == PrimitiveType::kF32
                               : !IsKeysFirst(dot);
  if (!is_finished || attrs.lhs_batch.empty() ||
      dot.operand(0)->shape().type() != PrimitiveType::kBf16 ||
      dot.operand(1)->shape().type() != PrimitiveType::kBf16 ||
      attrs.rhs_contracting.size() != 1) {
    return false;
  }
  const int64_t depth = RoundUpTo<int64_t>(
      dot.operand(1)->shape().dim(static_cast<int>(attrs.rhs_contracting[0])),
      kLanes);
  const int64_t bytes = count * (kBytesOfRows * kLanes + 2 * 4 * depth);
  return static_cast<double>(bytes) <= RoomForRows(chip);
}

}  // namespace ptxla::hlo
