// The code of lane_transpose.h for one block of 128 x 128 elements (f32), or
// two of them, one of each row of a pair (bf16).
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_BLOCKS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_BLOCKS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/movement/permuted_box.h"

namespace ptxla::lowering {

// Dimensions of the result. Lanes come from `x`, the last, and the operand's
// lanes go to `l`; the result's rows are `a`, the operand's are `b`.
struct LaneProblem : Permutation {
  int x = 0, l = 0, a = 0, b = 0;
  int pack = 1;                             // elements of a word
  bool FromRows() const { return b == x; }  // else from planes
  bool ToRows() const { return a == l; }
};

class LaneBlocks {
 public:
  LaneBlocks(const LaneProblem& p, const PermutedBox& box,
             codegen::CodeBuilder* b);

  struct Block {
    int64_t in = 0, out = 0;  // bytes from the bases; whole tiles and planes
    int64_t rows = 0, columns = 0;  // of x and l, at most 128
    int64_t a = 0, b = 0;           // in their tiles, where they are no lanes
    bool more_a = false, more_b = false;  // the next one exists
  };
  void Emit(codegen::Sca from, codegen::Sca to, const Block& block);

 private:
  using Tiles = std::vector<codegen::Vec>;

  int64_t InRow(int64_t row) const { return row / p_.pack * isa::kRowBytes; }
  // 32-bit words: tiles of 8 planes each at one row.
  Tiles LoadPlanes(codegen::Sca f, int64_t at, int64_t rows);
  // Tiles of 8 rows, bf16 as f32.
  Tiles LoadRows(codegen::Sca f, int64_t at, int64_t rows);
  void StorePlanes(codegen::Sca t, int64_t at, const Tiles& tiles);
  void StoreRows(codegen::Sca t, int64_t at, const Tiles& tiles);
  Tiles Words(const Tiles& low, const Tiles& high);
  Tiles Halves(const Tiles& words, bool high);

  const LaneProblem& p_;
  codegen::CodeBuilder& b_;
  const bool narrow_types_;  // 16 bits without packed registers
  codegen::NarrowTiles narrow_;
  int64_t x_pitch_, l_pitch_;     // per tile of rows or per plane
  int64_t a_in_ = 0, b_out_ = 0;  // planes: from one to the next
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_LANE_BLOCKS_H_
