// Transposes of the two minor dimensions of planes of a few tiles: many planes
// in one piece of code, only the tiles that exist, and two planes of 16-bit
// numbers as the halves of words that go through a transpose unit together.
//
//   PlaneTranspose planes(&b, /*pack=*/2, in, out);
//   planes.Emit(from, to, 8);     // planes at from + p * in.plane_bytes
//
// On both sides the tiles of a plane follow one another, row by row, in full
// tiles of 8 rows; nothing beyond them is read or written.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_TRANSPOSE_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_TRANSPOSE_H_

#include <cstdint>
#include <utility>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/movement/transpose_unit.h"

namespace ptxla::lowering {

class PlaneTranspose {
 public:
  // Larger planes are cut into blocks instead (TransposeUnit).
  static constexpr int64_t kMostTiles = 32;

  // `pack`: elements of a 32-bit word, 1 or 2.
  PlaneTranspose(codegen::CodeBuilder* b, int pack, const TransposeSide& in,
                 const TransposeSide& out);

  // `count` planes from f on, to t on.
  void Emit(codegen::Sca f, codegen::Sca t, int64_t count);

 private:
  using Tiles = std::vector<codegen::Vec>;  // of a plane, row by row

  // Its planes follow one another: halves of registers between them are whole
  // ones together.
  static bool IsDense(const TransposeSide& side);
  // Of `planes` planes, dense where they are several.
  Tiles Load(codegen::Sca f, int64_t plane, int64_t planes = 1);
  std::pair<Tiles, Tiles> LoadTwo(codegen::Sca f, int64_t plane);
  void Store(codegen::Sca t, int64_t plane, const Tiles& tiles);
  // The tiles of the transposed plane.
  Tiles Transposed(const Tiles& tiles);

  codegen::CodeBuilder& b_;
  const int pack_;
  const bool narrow_types_;  // 16 bits without packed registers
  const TransposeSide in_, out_;
  codegen::NarrowTiles narrow_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_PLANE_TRANSPOSE_H_
