// Windows have five dimensions at most: two grid dimensions along which every
// window moves by single units become one, and a table says where each of its
// steps is.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_FOLD_GRID_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_FOLD_GRID_H_

#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

// Grid dimensions a < b become dimension a; those behind b move up by one. All
// windows have blocks of one unit along both. The code must not ask for an
// index of the grid.
void FoldGrid(int a, int b, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_FOLD_GRID_H_
