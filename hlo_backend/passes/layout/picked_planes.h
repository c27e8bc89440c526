// Elements of rows or lanes as planes that are left out or turned: of an array
// that lies so, whose planes are copied whole.
//
//   f32[64,512,1024] x, every second of dimension 1
//   ==> transpose(slice(f32[512,64,1024] transpose(x)))
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_PICKED_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_PICKED_PLANES_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// Elements of a result from which on code for each of them would be too long:
// of lanes, every one is a piece of its own.
inline constexpr int64_t kManyLanes = 4096;
inline constexpr int64_t kManyRows = 65536;
// The same of short rows with the padding of their lanes, which VMEM holds,
// too. ASSUMED, all three.
inline constexpr int64_t kManyPaddedRows = 8 * kManyRows;

// Dimension `d` of the movement is one of rows or lanes that are so many.
bool MovesMany(const Instruction& i, int64_t d);

// Dimension `d` in front, the others in the order whose tiles are fullest.
DimVector PlanesAlong(const Shape& shape, int64_t d, int generation);

// Elements start, start + step, ... of dimension `d`, `count` of them; a
// negative step: all, reversed. Two dimensions have no planes: rows of a table
// by number.
Instruction* PickedPlanes(Builder& b, Instruction* x, int64_t d, int64_t start,
                          int64_t step, int64_t count, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_PICKED_PLANES_H_
