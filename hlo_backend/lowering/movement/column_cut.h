// A reshape of rows that keeps its columns, some columns at a time: what
// happens to one tile of 128 columns happens to all, so that large planes whose
// rows have no equal blocks (eight sequences of 197 tokens as one matrix) go
// through VMEM in steps.
//
//   for (const int64_t tiles : ColumnCut::Choices(i)) {
//     ColumnCut cut(i, tiles);
//     cut.Narrow(array)                // a step's tiles of columns of it
//     cut.RowOf(narrow, /*row=*/9)     // where their word rows lie in it
//   }
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_CUT_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_CUT_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

class ColumnCut {
 public:
  // How many tiles of columns a step may have, the most first; none if `i` is
  // another movement or has one tile.
  static std::vector<int64_t> Choices(const hlo::Instruction& i);
  // `tiles`: one of these.
  ColumnCut(const hlo::Instruction& i, int64_t tiles);

  int64_t steps() const { return across_ / tiles_; }
  // A step's columns of an array of the movement.
  PhysicalArray Narrow(PhysicalArray array) const;
  // Word row (512 bytes) of a narrow array, in the array itself behind where
  // the step begins there.
  int64_t RowOf(const PhysicalArray& narrow, int64_t row) const;
  // A step's rows (word rows of the narrow array, whole rows of tiles) and
  // columns as dimensions of a window; grid dimension `walk` walks the columns.
  void SetDims(const PhysicalArray& narrow, isa::WindowDim rows, int walk,
               isa::Window* window) const;

 private:
  int64_t tiles_, across_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_CUT_H_
