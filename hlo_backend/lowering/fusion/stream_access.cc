#include "hlo_backend/lowering/fusion/stream_access.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/lowering/refusals.h"

namespace ptxla::lowering {

using hlo::Instruction;

int IterationDim(const ExprNode& leaf, const PhysicalArray& a, int p) {
  if (a.sizes[p] == 1) return -1;
  return static_cast<int>(leaf.map[a.dims[p]]);
}

namespace {

// How the leaf's array is read, if it is read from its first lane on.
absl::Status ClassifyWhole(const Expression& e, const ExprNode& leaf,
                           const Instruction& instr, Stream* s) {
  const int row_dim = e.space.rank() - 2;
  const int column_dim = e.space.rank() - 1;
  const PhysicalArray& a = s->array;
  if (leaf.depends == 0) {
    s->access = Access::kSplat;
    return absl::OkStatus();
  }
  if (e.space.rank() <= 1) return absl::OkStatus();  // kTile
  // Planes lie apart: no register holds elements of several.
  bool turned = false;
  for (int p = 0; p < a.rank() - 2; ++p) {
    const int d = IterationDim(leaf, a, p);
    turned |= d == column_dim || (d == row_dim && e.space.tile_rows > 1);
  }
  // Where the array's own rows and columns come from.
  const bool flat = a.rank() <= 1;
  const int column = IterationDim(leaf, a, a.rank() - 1);
  const int row = flat ? -1 : IterationDim(leaf, a, a.rank() - 2);
  if (turned) {
  } else if (column == column_dim) {
    if (row == row_dim && !flat) return absl::OkStatus();  // kTile
    if (flat || row != column_dim) {
      const bool degenerate =
          !flat && row < 0 && e.space.rows == 1 && a.rank() == e.space.rank();
      // Both have one row: tiles lie alike.
      if (degenerate) return absl::OkStatus();
      s->access = Access::kRowOfLanes;
      return absl::OkStatus();
    }
  } else if (leaf.depends >> row_dim & 1) {
    if (column == row_dim && row != row_dim && row != column_dim) {
      s->access = Access::kLaneOfRows;
      s->lanes_from_rows = true;
      return absl::OkStatus();
    }
    if (row == row_dim && column < 0) {
      // Both have one column: tiles lie alike. What is reduced is wanted on all
      // lanes.
      const bool reduces =
          std::any_of(e.reduces.begin(), e.reduces.end(),
                      [](const Instruction* i) { return i != nullptr; });
      if (!reduces && e.space.columns == 1 && a.rank() == e.space.rank()) {
        return absl::OkStatus();
      }
      s->access = Access::kLaneOfRows;
      s->rows_from_rows = true;
      return absl::OkStatus();
    }
  } else if (!(leaf.depends >> column_dim & 1)) {
    s->access = Access::kSplat;
    return absl::OkStatus();
  }
  return Unsupported(instr,
                     absl::StrCat("operand ", leaf.argument, " (",
                                  leaf.instr->shape().ToStringWithLayout(),
                                  ") is read across its layout"));
}

// Of the tile where the leaf begins.
int64_t FirstByte(const ExprNode& leaf, const PhysicalArray& a) {
  if (leaf.starts.empty()) return 0;
  int64_t plane = 0;
  for (int p = 0; p < a.rank() - 2; ++p) {
    plane = plane * a.sizes[p] + leaf.starts[a.dims[p]];
  }
  const int64_t row = leaf.starts[a.dims[a.rank() - 2]];
  const int64_t column = leaf.starts[a.dims[a.rank() - 1]];
  return a.TileOffset(plane, row / a.tile_rows, column / isa::kLanes);
}

}  // namespace

absl::Status ClassifyAccess(const Expression& e, const ExprNode& leaf,
                            const Instruction& instr, Stream* s) {
  RETURN_IF_ERROR(ClassifyWhole(e, leaf, instr, s));
  const bool in_place = s->access == Access::kTile && e.space.rank() > 1;
  const bool part = leaf.first_lane > 0 || !leaf.starts.empty();
  if (part && !in_place) {
    return Unsupported(instr, absl::StrCat("a part of operand ", leaf.argument,
                                           " is read out of its place"));
  }
  s->first_byte = FirstByte(leaf, s->array);
  return absl::OkStatus();
}

absl::Status ChoosePacking(const Geometry& g, const Instruction& instr,
                           Stream* s) {
  const PhysicalArray& a = s->array;
  // One tile of words may be higher than those of the others: its first rows.
  if (a.packing == 1 && a.tiles_down == 1) return absl::OkStatus();
  // Tiles of few rows hold all rows of their array.
  const bool small = a.packing > 1 && a.tiles_down == 1 &&
                     (a.tile_rows < 8 || g.base_rows < 8);
  s->tile_by_tile |= small;
  s->by_parts &= !small;
  // Of half bytes a tile may be eight times as high as the others: part by
  // part.
  if (a.bits == 4 && !small && a.tile_rows > g.base_rows) {
    s->tile_by_tile = false;
    s->by_parts = true;
    s->pack_rows = static_cast<int>(a.tile_rows / g.base_rows);
    return absl::OkStatus();
  }
  if (s->tile_by_tile) {
    if (!small && a.tile_rows != g.base_rows) {
      return Unsupported(instr, "packed tiles of other than 8 rows");
    }
    return absl::OkStatus();
  }
  s->pack_rows = static_cast<int>(a.tile_rows / g.base_rows);
  if (a.packing % s->pack_rows != 0) {
    return Unsupported(
        instr, absl::StrCat("tiles of ", a.tile_rows, " rows beside tiles of ",
                            g.base_rows));
  }
  s->pack_columns = a.packing / s->pack_rows;
  if (g.base_rows < 8 && a.packing > 1) {
    return Unsupported(instr, "small tiles of packed types");
  }
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
