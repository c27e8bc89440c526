// The code of a grid step that transposes the two minor dimensions of a plane
// by blocks of 128 x 128 elements: its block rows and columns in loops, each
// with as many blocks in one piece of code as the transpose units can have
// under way.
//
//   TransposeBlocks code(&b, /*pack=*/2, /*together=*/16, in, out);
//   code.Emit({/*rows=*/4, /*columns=*/4});
//
// Where an array is walked in VMEM, nothing is read or written beyond it: the
// last blocks of a dimension have code of their own.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_BLOCKS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_BLOCKS_H_

#include <cstdint>

#include "base/units.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/movement/transpose_side.h"
#include "hlo_backend/lowering/movement/transpose_unit.h"

namespace ptxla::lowering {

class TransposeBlocks {
 public:
  // `pack`: elements of a 32-bit word, 1 or 2. `together`: units of work, of
  // pack x pack blocks, in one piece of code.
  TransposeBlocks(codegen::CodeBuilder* b, int pack, int64_t together,
                  const TransposeSide& in, const TransposeSide& out)
      : b_(*b), pack_(pack), together_(together), in_(in), out_(out) {}

  // Blocks of the operand.
  struct Part {
    int64_t rows = 1, columns = 1;
    // Row tiles of the result that exist of the last block column.
    int64_t last_tiles = kTransposeBlock;
    bool exact = false;  // nothing beyond the result is written
  };
  void Emit(const Part& part) { Emit(in_, out_, part); }

  // Blocks along one dimension: of the operand, of a step, and the grid's.
  struct Cut {
    int64_t all = 1, step = 1;
    int grid_dim = -1;
    int64_t StepsBefore() const { return CeilOfRatio(all, step) - 1; }
    int64_t OfLast() const { return all - StepsBefore() * step; }
  };
  // One of several steps over an array that is walked in place; a side that is
  // not has windows.
  void EmitStep(const Cut& down, const Cut& across);
  // One of the steps across a result that is walked in place, each with all
  // rows.
  void EmitColumns(const Cut& down, const Cut& across);

 private:
  void Emit(const TransposeSide& in, const TransposeSide& out,
            const Part& part);
  // One row of blocks after the other, the first `full` columns of each in
  // whole blocks.
  void Rows(const TransposeSide& in, const TransposeSide& out, const Part& part,
            int64_t full, TransposeUnit* unit, codegen::Sca from,
            codegen::Sca to);
  // All columns of several rows of blocks together.
  void FewColumns(const TransposeSide& in, const TransposeSide& out,
                  const Part& part, TransposeUnit* unit, codegen::Sca from,
                  codegen::Sca to);
  // Rows of units of work.
  int64_t RowLoops(const Part& part) const {
    return CeilOfRatio<int64_t>(part.rows, pack_);
  }
  // Row tiles of the operand in a unit of work; nothing is read beyond the last
  // one of an operand that is walked in place.
  int64_t UnitTiles() const { return kTransposeBlock * pack_; }
  bool IsRagged(const TransposeSide& in) const {
    return in.resident && in.rows % UnitTiles() != 0;
  }
  int64_t LastUnitTiles(const TransposeSide& in, const Part& part) const;
  // Row tiles of the result in its last row of blocks.
  int64_t LastTilesOfResult() const;

  codegen::CodeBuilder& b_;
  const int pack_;
  const int64_t together_;
  const TransposeSide in_, out_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_BLOCKS_H_
