// The operand or the result of a transpose of the two minor dimensions, as its
// kernel walks it in VMEM: in a window, or where it lies.
//
//   TransposeBlock block;               // 4 x 4 blocks of 128 x 128 a step
//   block.row_dim = 0, block.row_tiles = 64;
//   block.column_dim = 1, block.column_tiles = 4;
//   TransposeSide in = AddTransposeSide(0, array, block, &tiling);
//   ...
//   in.Address(b, base);                // in the body of a step
//   in.Load(b, base);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_SIDE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_SIDE_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/staged_window.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

// What of an array a grid step has: tiles of 8 rows x 128 lanes, of some planes
// of one major dimension and of one of each other.
struct TransposeBlock {
  std::vector<int> major_dim;  // per dimension the grid's, -1: none
  int plane_dim = -1;          // the dimension with `planes`
  int64_t planes = 1;
  // The last step takes the last `planes` there are, some of which the one
  // before has taken too: nothing lies beyond the array. Of no staged side.
  bool planes_overlap = false;
  int row_dim = -1, column_dim = -1;  // of the grid
  int64_t row_tiles = 1, column_tiles = 1;
  // Code that touches no half of a register beyond the tiles of a plane walks
  // odd numbers of packed tiles where they lie, too.
  bool exact = false;
};

// Strides of its tiles and planes, in bytes.
struct TransposeSide {
  int window = 0;
  std::optional<StagedWindow> copy;  // instead of a window
  bool resident = false;             // walked in VMEM, where it lies
  int64_t row_stride = 0;            // from one row tile to the next
  int64_t tile_bytes = 0;
  int64_t rows = 0, columns = 0;  // tiles that exist
  int64_t plane_bytes = 0;        // in the slot

  // Where the step's block begins.
  void Address(codegen::CodeBuilder& b, codegen::Sca base) const;
  // Copies of a staged one, in blocks of code of their own: an operand's before
  // the work, to `base`; a result's behind it.
  void Load(codegen::CodeBuilder& b, codegen::Sca base) const;
  void Store(codegen::CodeBuilder& b) const;
};

// An array in VMEM that is not only in full tiles, of packed types in pairs of
// them (any number where code is exact), is not walked where it lies: each step
// copies its block.
bool NeedsStaging(const PhysicalArray& array, bool exact);

// The window of the operand (`arg` 0) or the result (1) of a transpose, whose
// arguments `tiling` has.
TransposeSide AddTransposeSide(int arg, const PhysicalArray& array,
                               const TransposeBlock& block, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_SIDE_H_
