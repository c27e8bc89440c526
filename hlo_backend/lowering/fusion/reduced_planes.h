// Windows of results whose rows are planes of what is reduced.
//
// Where rows or lanes are reduced, planes become rows of the result: a step of
// a block of planes makes that many of its rows. They move with the grid where
// steps make whole tiles of them, or several steps, one after another, one
// tile; a step with too few planes for that needs more of them.
//
//   f32[4096,256] reduce(f32[4096,256,16]), dimensions={2}, 8 planes a step:
//   a step makes 8 rows, the tiles T(8,128) of which it stores itself
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCED_PLANES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCED_PLANES_H_

#include "hlo_backend/lowering/fusion/reduce_tiling.h"

namespace ptxla::lowering {

// How many times as many planes a step should have for its rows of the result
// to be whole tiles, or those of several steps to be one; 1: they are, or are
// no rows.
int64_t MissingPlanes(const Geometry& g, const NestPlan& plan,
                      const Reduction& r);
bool HasWholeRows(const Geometry& g, const NestPlan& plan, const Reduction& r);

// The window of the result of `r`, which is argument `arg`: whole tiles of
// rows, or planes of the result, move with the grid. They lie in the window as
// in the result: outside of what a step has a part of there is one of each.
// False: nothing moves, or otherwise; nothing is added.
bool AddPlanesWindow(int arg, const Geometry& g, const NestPlan& plan,
                     Reduction* r, Tiling* tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCED_PLANES_H_
