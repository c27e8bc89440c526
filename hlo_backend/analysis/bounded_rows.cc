#include "hlo_backend/analysis/bounded_rows.h"

#include <algorithm>

#include "hlo_backend/analysis/element_gather.h"
#include "hlo_backend/analysis/integer_range.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kTile = 1024;  // elements, of one dimension

// Of row `k` of index vectors that were put together row by row.
IntegerRange RangeOfRow(const Instruction& x, int k) {
  switch (x.opcode()) {
    case Opcode::kConcatenate:
      if (x.dimensions()[0] == 0 && x.operand_count() == x.shape().dim(0)) {
        return RangeOf(*x.operand(k));
      }
      break;
    case Opcode::kCopy:
      return RangeOfRow(*x.operand(0), k);
    case Opcode::kCopyDone:
      return RangeOfRow(*x.operand(0)->operand(0), k);
    case Opcode::kFusion:
      return RangeOfRow(*x.called()[0]->root(), k);
    default:
      break;
  }
  return RangeOf(x);
}

}  // namespace

bool NamesPlacesInside(const Instruction& gather) {
  const auto& a = gather.attrs<GatherAttrs>();
  const Shape& table = gather.operand(0)->shape();
  const Instruction& numbers = *gather.operand(1);
  const auto count = static_cast<int>(a.start_index_map.size());
  for (int k = 0; k < count; ++k) {
    const auto d = static_cast<int>(a.start_index_map[k]);
    const IntegerRange range =
        count == 1 ? RangeOf(numbers) : RangeOfRow(numbers, k);
    if (!range.Within(0, table.dim(d) - a.slice_sizes[d])) return false;
  }
  // Several numbers of a place are rows of the vectors for elements alone.
  return count <= 1 || GathersElements(gather);
}

bool IsMarkedBounded(const Instruction& gather) {
  return gather.backend_config() == kBoundedConfig;
}

bool ArePadded(const Shape& rows) {
  return rows.rank() == 1 && rows.dim(0) % kTile != 0;
}

bool BoundsPaddedRows(const Instruction& i) {
  return i.opcode() == Opcode::kClamp && ArePadded(i.shape()) &&
         i.user_count() > 0 &&
         std::all_of(i.users().begin(), i.users().end(),
                     [&](const Instruction* user) {
                       return user->opcode() == Opcode::kGather &&
                              user->operand(1) == &i && user->operand(0) != &i;
                     });
}

}  // namespace ptxla::hlo
