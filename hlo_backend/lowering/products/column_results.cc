#include "hlo_backend/lowering/products/column_results.h"

#include <utility>

#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::lowering {

int64_t ColumnResult::SlotBytes() const {
  return RoundUpTo<int64_t>(reduction.result.bytes(), isa::kVregBytes);
}

void ColumnResult::AddWindow(int first_result, const ProductTile& tile,
                             const GridDims& grid, Tiling* tiling) {
  window = static_cast<int>(tiling->windows.size());
  tiling->windows.push_back(
      KeptWindow(reduction.result, first_result + leaf, tile, grid));
}

bool AllReducesAre(const hlo::Instruction& fusion,
                   bool (*such)(const hlo::Instruction& reduce,
                                const hlo::Instruction& product)) {
  const hlo::Instruction* product = nullptr;
  for (const hlo::Instruction* i : fusion.fused()->instructions()) {
    if (hlo::IsProduct(*i)) product = i;
  }
  if (product == nullptr) return false;
  for (const hlo::Instruction* i : fusion.fused()->instructions()) {
    if (i->opcode() == hlo::Opcode::kReduce && !such(*i, *product)) {
      return false;
    }
  }
  return true;
}

}  // namespace ptxla::lowering
