// Moves a box of an array from one place in VMEM to another, shifted by any
// number of rows and lanes, or leaves out what is outside of a range.
//
// In VMEM a box lies in *strips*: 128 columns of a plane, whose word rows (512
// bytes, movement/word_rows.h) follow one another without gaps. So a shift by
// rows is an address, a shift inside of a word two bit shifts, and a shift by
// lanes a selection of two strips and one rotation. The code loops over
// planes, strips and registers; only the innermost of them are unrolled.
//
//   StripMove move;
//   move.from = {space, base, {plane_stride}, column_stride};
//   ...
//   EmitStripMove(b, move);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_MOVER_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_MOVER_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

// Where strips lie; strides in bytes.
struct Strips {
  int space = 0;
  codegen::Sca base;  // a global
  std::vector<int64_t> plane_strides;
  int64_t column_stride = 0;
  // From one register of a strip to the next: more where it is a column of an
  // array's tiles, each a register.
  int64_t register_stride = isa::kVregBytes;
};

// Index x of the box counts if (x - first) is in [0, count).
struct StripCheck {
  bool on = false;
  codegen::Sca first;  // a global
  int64_t count = 0;
};

struct StripMove {
  Strips from, to;
  std::vector<int64_t> planes;  // the box: outer to inner
  int64_t columns = 1;          // strips of a plane
  int64_t registers = 1;        // of a strip
  int packing = 1;              // rows in a word
  bool linear = false;          // a 1-D array: its rows follow one another

  // Result row r comes from row r + rows of the strip, lane l from l + lanes;
  // 0 <= lanes < 128, 0 <= rows.
  int64_t rows = 0;
  int lanes = 0;
  // Instead, where data decide: globals. What is a whole number of word rows
  // or strips is in `from.base`.
  codegen::Sca bit_shift;   // rows inside of a word, in bits
  codegen::Sca lane_shift;  // [0, 128)

  // Of a linear array the check of rows counts elements.
  std::vector<StripCheck> plane_checks;
  StripCheck row_check, lane_check;
  // Of strips that are tiles of an array: nothing follows below the registers,
  // or beside the columns. Elements that would come from there are anything.
  bool last_rows = false, last_lanes = false;
  // Elements that do not count stay as they are in `to`, or become `fill` (a
  // global; invalid: anything).
  bool keep = false;
  codegen::Vec fill;
};

// `move` without its first registers of each strip and its first strips.
StripMove Behind(codegen::CodeBuilder& b, const StripMove& move,
                 int64_t registers, int64_t columns);

void EmitStripMove(codegen::CodeBuilder& b, const StripMove& move);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_MOVER_H_
