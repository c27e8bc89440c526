// One unit of work of a transpose of the two minor dimensions: blocks of 128 x
// 128 elements that go through a transpose unit together, from and to tiles in
// VMEM.
//
//   TransposeUnit unit(&b, /*pack=*/2);  // bf16: 2 x 2 blocks
//   unit.Emit(in, out, from, to, row, column, columns, tiles, exact, in_tiles);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_UNIT_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_UNIT_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/movement/transpose_side.h"

namespace ptxla::lowering {

inline constexpr int64_t kTransposeBlock = 16;  // row tiles of 8: 128 lanes

class TransposeUnit {
 public:
  // `pack`: elements of a 32-bit word, 1 or 2.
  TransposeUnit(codegen::CodeBuilder* b, int pack);

  // pack x pack blocks: block column `c` of the operand becomes block row `c`
  // of the result; of the last of `count` block columns `tiles` row tiles
  // exist; `row` rows of such blocks from f and t on.
  // `in_tiles`: row tiles of the operand that exist; nothing beyond is read.
  // `exact`: nothing beyond the result is written.
  void Emit(const TransposeSide& in, const TransposeSide& out, codegen::Sca f,
            codegen::Sca t, int64_t row, int64_t c, int64_t count,
            int64_t tiles, bool exact, int64_t in_tiles);

 private:
  // Two blocks that went through the unit as the halves of words.
  struct Halves {
    std::vector<codegen::Vec> low, high;
  };

  // The transposed block whose first tile is at f + `at`, as 32-bit words; of
  // its 16 tiles `in_tiles` exist.
  std::vector<codegen::Vec> Words(const TransposeSide& in, codegen::Sca f,
                                  int32_t at, int64_t in_tiles);
  // Of packed tiles that halves of registers share, the block that `part`
  // unpacks and the one below.
  Halves Pair(const TransposeSide& in, codegen::Sca f, int32_t at, bool half,
              isa::Opcode part, int64_t in_tiles);

  codegen::CodeBuilder* b_;
  const int pack_;
  codegen::NarrowTiles narrow_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_TRANSPOSE_UNIT_H_
