#include "hlo_backend/analysis/plane_scatter.h"

#include <algorithm>
#include <cstdint>

#include "base/units.h"
#include "hlo_backend/analysis/scatter_body.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/analysis/whole_planes.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// Of the table: 16 rows of every plane. A step has it twice, in and out, in the
// smallest scoped VMEM (16 MiB).
constexpr int64_t kMostTableBytes = int64_t{1} << 20;

bool IsWord(PrimitiveType type) {
  return type == PrimitiveType::kF32 || type == PrimitiveType::kS32 ||
         type == PrimitiveType::kU32;
}

// Row numbers in one dimension name whole planes of one array.
bool NamesPlanes(const Instruction& scatter) {
  if (scatter.opcode() != Opcode::kScatter || scatter.operand_count() != 3) {
    return false;
  }
  const auto& a = scatter.attrs<ScatterAttrs>();
  const Shape& table = scatter.operand(0)->shape();
  const Shape& rows = scatter.operand(1)->shape();
  const Shape& updates = scatter.operand(2)->shape();
  const bool column = rows.rank() == 2 && rows.dim(1) == 1;
  if (table.rank() < 3 || updates.rank() != table.rank() ||
      (rows.rank() != 1 && !column) || BitWidth(rows.type()) != 32 ||
      a.index_vector_dim != 1 ||
      a.scatter_dims_to_operand_dims != DimVector{0} ||
      a.inserted_window_dims != DimVector{0} ||
      !a.input_batching_dims.empty()) {
    return false;
  }
  for (int d = 1; d < table.rank(); ++d) {
    if (a.update_window_dims[d - 1] != d || updates.dim(d) != table.dim(d)) {
      return false;
    }
  }
  return true;
}

}  // namespace

bool ScattersPlanes(const Instruction& scatter) {
  if (!NamesPlanes(scatter)) return false;
  const Shape& table = scatter.operand(0)->shape();
  const Shape& updates = scatter.operand(2)->shape();
  const Computation& body = *scatter.to_apply();
  if (!IsOneOperation(body, 0, 1) ||
      (!IsWord(table.type()) && table.type() != PrimitiveType::kBf16)) {
    return false;
  }
  const int64_t down = table.dim(table.rank() - 2);
  const int64_t columns =
      RoundUpTo<int64_t>(table.dim(table.rank() - 1), kLanes);
  const int64_t bytes = BitWidth(table.type()) / 8;
  // Whole registers of every plane: pairs of tiles of packed types.
  const int64_t tiles = down / kTileRows * (columns / kLanes);
  int64_t plane = down * columns * bytes;
  for (int d = 1; d + 2 < table.rank(); ++d) plane *= table.dim(d);
  const int64_t all = std::max(table.dim(0), updates.dim(0));
  return down % kTileRows == 0 && tiles % (4 / bytes) == 0 &&
         table.dim(0) * 2 * kTileRows * columns * bytes <= kMostTableBytes &&
         plane <= INT32_MAX / std::max<int64_t>(all, 1);
}

bool ReplacesPlanes(const Instruction& scatter) {
  if (!NamesPlanes(scatter) || !ReplacesOldValue(*scatter.to_apply()))
    return false;
  const Shape& table = scatter.operand(0)->shape();
  const DimVector plane(table.dims().begin() + 1, table.dims().end());
  return AreCopiedAsTheyLie(table.type(), plane, table.dim(0),
                            scatter.operand(2)->shape().dim(0));
}

}  // namespace ptxla::hlo
