#include "hlo_backend/lowering/movement/column_cut.h"

#include "hlo_backend/lowering/movement/word_rows.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

bool IsTiledRowMajor(const PhysicalArray& a) {
  for (int d = 0; d < a.rank(); ++d) {
    if (a.dims[d] != d) return false;
  }
  return a.rank() >= 2 && a.linear == 0;
}

}  // namespace

std::vector<int64_t> ColumnCut::Choices(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kReshape) return {};
  const auto from = PhysicalArray::Of(i.operand(0)->shape());
  const auto to = PhysicalArray::Of(i.shape());
  if (!from.ok() || !to.ok() || !IsTiledRowMajor(*from) ||
      !IsTiledRowMajor(*to) || from->columns != to->columns) {
    return {};
  }
  std::vector<int64_t> tiles;
  for (int64_t t = to->tiles_across / 2; t >= 1; --t) {
    if (to->tiles_across % t == 0) tiles.push_back(t);
  }
  return tiles;
}

ColumnCut::ColumnCut(const hlo::Instruction& i, int64_t tiles)
    : tiles_(tiles),
      across_(PhysicalArray::Of(i.shape()).value().tiles_across) {}

PhysicalArray ColumnCut::Narrow(PhysicalArray array) const {
  array.tiles_across = tiles_;
  array.columns = array.sizes.back() = tiles_ * isa::kLanes;
  return array;
}

int64_t ColumnCut::RowOf(const PhysicalArray& narrow, int64_t row) const {
  const int64_t tile_rows = narrow.tile_bytes() / isa::kRowBytes;
  const int64_t tile = row / tile_rows;
  return (tile / tiles_ * across_ + tile % tiles_) * tile_rows +
         row % tile_rows;
}

void ColumnCut::SetDims(const PhysicalArray& narrow, isa::WindowDim rows,
                        int walk, isa::Window* window) const {
  const int64_t unit = WordRows(narrow).TileRow();
  for (int64_t* n : {&rows.block, &rows.extent}) *n /= unit;
  if (rows.table.empty()) rows.advance /= unit;
  for (int64_t& n : rows.table) n /= unit;
  rows.hbm_stride = across_ * narrow.tile_bytes();
  rows.vmem_stride = narrow.row_stride();
  isa::WindowDim columns;
  columns.block = tiles_;
  columns.extent = across_;
  columns.hbm_stride = columns.vmem_stride = narrow.tile_bytes();
  columns.grid_dim = walk;
  window->dims = {rows, columns};
  window->inner_bytes = narrow.tile_bytes();
  window->slots = 2;
}

}  // namespace ptxla::lowering
