// How a fusion's arrays lie relative to its iteration space: axes to loop over,
// and for each operand and result a stream of vector registers along them.
//
// A *base tile* is what one f32 register holds: 8 rows x 128 columns (fewer
// rows where the layout's tiles are smaller). Axes count base tiles: majors
// (one index each), rows, columns. Adjacent axes along which every stream runs
// contiguously are merged, so plain elementwise work has one axis.
//
// A register of a narrower type covers pack_rows x pack_columns base tiles.
// Loops go in *units* that hold whole registers of every stream.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/fusion/expression.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct Axis {
  enum class Kind : uint8_t { kMajor, kRow, kColumn };
  Kind kind = Kind::kMajor;
  int64_t tiles = 1;  // base tiles, or indices of a major
  int64_t unit = 1;   // base tiles per unit
  // Base tiles that lie together where each core has one step: fewer than a
  // unit where a window may end within a register, between tiles of the array.
  int64_t core_unit = 1;
  int64_t elements = 1;  // rows or columns without padding; majors: tiles
  bool reduced = false;
  // Iteration dimensions that are merged into it, outer to inner, and the base
  // tiles of each.
  std::vector<int> dims;
  std::vector<int64_t> parts;
  int64_t units() const { return (tiles + unit - 1) / unit; }
};

// How a leaf is read.
enum class Access : uint8_t {
  kTile,        // registers of the array itself
  kRowOfLanes,  // one row of the array on all sublanes: varies by column only
  kLaneOfRows,  // one value per row on all lanes, expanded into scratch first
  kPartial,     // a reduce of an earlier stage, a tile per kept tile in scratch
  kSplat,       // one value on all lanes: varies by majors, or not at all
};

struct Stream {
  Access access = Access::kTile;
  int node = -1;      // leaf of the expression; -1: a result
  int root = -1;      // of the expression, where it is a result
  int result = -1;    // result leaf
  int argument = -1;  // kernel argument
  PhysicalArray array;
  int pack_rows = 1, pack_columns = 1;
  // Narrow tiles that are not expanded from whole registers: one tile of the
  // array per base tile.
  bool tile_by_tile = false;
  // Each base tile of a register is loaded or stored for itself: bytes are on
  // every chip where results are written, and on chips that cannot expand a
  // register of them (codegen/narrow_tiles.h) where operands are read.
  bool by_parts = false;
  // Bytes of the array from one base tile to the next along each axis; for
  // packed axes, of one register divided by its base tiles (exact multiples).
  // 0: does not move.
  std::vector<int64_t> strides;
  // Where in the array the first base tile begins (ExprNode::starts).
  int64_t first_byte = 0;
  // Row of the array chosen by a major axis (kRowOfLanes, kLaneOfRows,
  // kSplat), -1: row 0; and lane chosen by a major axis (kSplat), -1: lane 0.
  int row_axis = -1;
  int lane_axis = -1;
  bool rows_from_rows = false;   // kLaneOfRows: one tile column of a [.., M, 1]
  bool lanes_from_rows = false;  // kLaneOfRows: lanes of a dense [.., M]
  // Moved into place, in scratch, in every step (shifted_streams.h); `array` is
  // what lies there.
  bool shifted = false;
};

struct Geometry {
  std::vector<Axis> axes;       // majors, rows, columns, those that remain
  std::vector<Stream> streams;  // leaves, then results that are no reduces
  int base_rows = 8;            // valid rows of a base tile
  bool linear = false;          // one column axis over all tiles
  // Of a linear axis over an array of rows and columns: base tiles of a row.
  // Steps walk down the columns of tiles, as the TPU compiler's do, so the
  // banks of VMEM decide which loads share a bundle (tpu_slots.md, section 4).
  int64_t row_of_tiles = 1;
  // The chip expands packed registers; else narrow types go tile by tile
  // (codegen/narrow_tiles.h). packs8: of bytes.
  bool packs = true, packs8 = true;
  bool Packs(int bits) const {
    return bits == 8 ? packs8 : bits == 16 && packs;
  }
  // bf16 is computed two rows to a word (packed_formula.h).
  bool packed_bf16 = false;
  int row_axis = -1, column_axis = -1;
  // For every element one function of the EUP or more: its results come late.
  bool uses_eup = false;
  // Rows of 128 results of a reduce that share their words.
  int result_packing = 1;
  // Loads and operations for every element.
  int operations = 0;
  // Axis that iteration dimension d belongs to, -1: size 1.
  std::vector<int> axis_of_dim;

  // `reduced`: bit d: iteration dimension d is reduced.
  static absl::StatusOr<Geometry> Of(const Expression& e, uint32_t reduced,
                                     const hlo::Instruction& i,
                                     const isa::MachineModel& model);
  // Axes (bit set) along which a node varies.
  uint32_t AxesOf(const ExprNode& node) const;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_GEOMETRY_H_
