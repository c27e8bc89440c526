// An array as the planes of rows of words that a reflow (reflow.h) walks.
//
//   f32[8191,8192]      8191 rows of 8192 columns, 64 tiles across
//   f32[67100672]       a line: rows of 128 columns, eight to a register;
//   f32[1,67100672]     so in tiles one row high; in higher tiles (two rows on
//                       v2 and v3) a line with gaps: the others are padding
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_SIDE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_SIDE_H_

#include <cstdint>
#include <optional>

#include "base/units.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/instruction.h"

namespace ptxla::lowering {

// One plane, if nothing pads its rows.
struct ReflowSide {
  int64_t planes = 1, rows = 1, columns = 1, across = 1, tile_rows = 8;
  int64_t padding = 0;  // rows of memory behind each tile's

  static std::optional<ReflowSide> Of(const PhysicalArray& a) {
    ReflowSide s;
    if (a.bits != 32) return {};
    if (a.linear != 0) {
      s.rows = a.bytes() / isa::kRowBytes;
      s.columns = isa::kLanes;
      s.tile_rows = a.tile_rows;
      return s;
    }
    for (int d = 0; d < a.rank(); ++d) {
      if (a.dims[d] != d) return {};
    }
    // A long row in tiles one row high is a line, too, in higher ones a line
    // with gaps. (What is behind its end is padding, as behind a line's.)
    if (a.planes == 1 && a.rows == 1 && a.tiles_across > 1 &&
        (a.tile_rows > 1 || (a.tiles_across % isa::kSublanes == 0 &&
                             a.columns == a.tiles_across * isa::kLanes))) {
      s.rows = a.tiles_across;
      s.columns = isa::kLanes;
      if (a.tile_rows > 1) {
        s.tile_rows = 1;
        s.padding = a.tile_rows - 1;
      }
      return s;
    }
    s.planes = a.planes;
    s.rows = a.rows;
    s.columns = a.columns;
    s.across = a.tiles_across;
    s.tile_rows = a.tile_rows;
    if (s.rows % s.tile_rows == 0) {
      s.rows *= s.planes;
      s.planes = 1;
    } else if (s.tile_rows < 8 && s.rows > s.tile_rows) {
      return {};
    }
    return s;
  }

  // Whole registers, one row behind the other.
  bool IsLine() const {
    return planes == 1 && columns == isa::kLanes && tile_rows == 8;
  }
  int64_t tiles() const { return CeilOfRatio(rows, tile_rows); }
  int64_t tile_bytes() const { return (tile_rows + padding) * isa::kRowBytes; }
  int64_t row_stride() const { return across * tile_bytes(); }
  int64_t plane_stride() const { return tiles() * row_stride(); }
  // Elements of a plane, or, of one alone, of a row of tiles.
  int64_t piece() const {
    return planes > 1 ? rows * columns : tile_rows * columns;
  }
  int64_t pieces() const { return planes > 1 ? planes : tiles(); }
  int64_t piece_bytes() const {
    return planes > 1 ? plane_stride() : row_stride();
  }
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_REFLOW_SIDE_H_
