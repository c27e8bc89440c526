// The code between rows of tiles and a line in VMEM (reflow.h).
//
//   LineRows rows(b, side, line, line_rows, LineRows::kFill);
//   rows.Emit({at, place, 16, 1, 32, /*whole=*/true});
//       // 16 rows of 32 columns at `at` become the line's elements from
//       // `place` on: its next four rows of 128
//
// Where a patch begins a row of the line, every rotation and mask is known when
// the code is made, and eight rows that lie alike in the line can be one
// register. Elsewhere they are computed, once for each row.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_ROWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_ROWS_H_

#include <cstdint>
#include <numeric>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/movement/reflow_side.h"

namespace ptxla::lowering {

// Rows of tiles of one block of code.
struct LinePatch {
  codegen::Sca at;         // where the first of its tiles lies
  codegen::Sca place;      // of its first element in the line
  int64_t rows = 0;        // of elements
  int64_t tiles = 1;       // side by side, from the first on
  int64_t last_lanes = 0;  // columns of the last of them
  bool whole = false;      // `place` is a multiple of 128, in the line's room
  // Eight rows so far apart from one another are a register (RowPeriod), and
  // `rows` are eight times as many or a multiple; 0: each row by itself.
  int64_t apart = 0;
};

// After how many rows one begins a row of the line again, if the first does.
struct RowPeriod {
  explicit RowPeriod(const ReflowSide& side)
      : side(side),
        rows(isa::kLanes / std::gcd(isa::kLanes, side.columns)),
        tiles(isa::kLanes /
              std::gcd(isa::kLanes, side.tile_rows * side.columns)) {}

  // Whether rows so far apart are equally far apart in memory.
  bool JoinsEights() const {
    return side.across == 1 || rows % side.tile_rows == 0 ||
           (rows == 1 && side.tile_rows == 8);
  }

  const ReflowSide& side;
  const int64_t rows, tiles;  // rows of elements, rows of whole tiles
};

class LineRows {
 public:
  enum Way { kFill, kCut };  // into the line, out of it

  // Tiles side by side of a patch whose place is not known.
  static constexpr int64_t kMostTiles = 8;
  // Rows of the line that such a patch may touch before and behind it.
  static constexpr int64_t kSlackRows = 2 * kMostTiles + 8;

  // `tiles` and `line` are the memories of the rows and of the line, as loads
  // and stores name them. The line has `line_rows` rows of 128 from `line_at`
  // on; what is put elsewhere is lost.
  LineRows(codegen::CodeBuilder* b, const ReflowSide& side, int tiles, int line,
           codegen::Sca line_at, int64_t line_rows, Way way)
      : b_(*b),
        s_(side),
        tiles_(tiles),
        line_(line),
        line_at_(line_at),
        line_rows_(line_rows),
        way_(way) {}

  // Into the open block.
  void Emit(const LinePatch& p) { return p.whole ? Known(p) : Computed(p); }

 private:
  void Known(const LinePatch& p);
  void Computed(const LinePatch& p);
  int32_t TileOffset(int64_t row, int64_t tile) const;
  int64_t Lanes(const LinePatch& p, int64_t tile) const;
  // All lanes of one row.
  codegen::Mask FirstRow();

  codegen::CodeBuilder& b_;
  const ReflowSide& s_;
  const int tiles_, line_;
  const codegen::Sca line_at_;
  const int64_t line_rows_;
  const Way way_;
};

// Registers between an array of one dimension and the line: it is one, too.
void CopyLine(codegen::CodeBuilder* b, int source, codegen::Sca from,
              int target, codegen::Sca to, int64_t registers);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_ROWS_H_
