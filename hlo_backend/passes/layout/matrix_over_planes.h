// A matrix that multiplies a dimension of an array which is not its minor one
// (a resize along rows or columns, positions that are mixed) and would leave
// lanes empty, or join part of them with what lies outside, as the product of
// each plane with the shared matrix. The minor dimension stays in the lanes:
//
//   %d = f32[64,4,128,64] dot(f32[64,4,32,128] %x, f32[32,64] %w),
//        lhs_contracting_dims={2}, rhs_contracting_dims={0}
//   ==>
//   %s = f32[64,4,32,64] broadcast(%w), dimensions={2,3}
//   %p = f32[64,4,64,128] dot(%s, %x), batch {0,1}
//   %d = f32[64,4,128,64] transpose(%p), dimensions={0,1,3,2}
//
//   %d = f32[128,4,64,21] dot(f32[64,128] %w, f32[4,64,64,21] %x),
//        lhs_contracting_dims={0}, rhs_contracting_dims={1}
//   ==>
//   %p = f32[4,64,128,21] dot(broadcast(%w), transpose(%x)), batch {0,1}
//   %d = f32[128,4,64,21] transpose(%p), dimensions={2,0,1,3}
//
// Where the columns of the matrix fill the lanes better they are there:
//
//   %d = f32[512,21,128] dot(f32[512,64,21] %x, f32[64,128] %w),
//        lhs_contracting_dims={1}, rhs_contracting_dims={0}
//   ==> %d = f32[512,21,128] dot(%x, broadcast(%w)), batch {0}
//
// Rows that a moving transpose turns are taken as they lie; where the minor
// dimension is contracted then, that is a plain product:
//
//   %d = f32[128,2,48,3] dot(%w, transpose(f32[2,3,48,64] %y))
//   ==> %p = f32[2,3,48,128] dot(%y, %w)
//
// So the TPU compiler (libtpu 0.0.42.1) has jax.image.resize. A few numbers in
// the lanes are another's business (product_planes.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_MATRIX_OVER_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_MATRIX_OVER_PLANES_H_

#include <functional>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/layout/product_planes.h"

namespace ptxla::hlo {

// Does this transpose move behind what reads it?
using IsMoving = std::function<bool(const Instruction& transpose)>;

// `product` is null: it stays as it is. Its transpose may have more dimensions
// than `dot`, whose rows a reshape had joined.
ProductPlanes MadeOverPlanes(Builder& b, Instruction* dot,
                             const IsMoving& moves, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_MATRIX_OVER_PLANES_H_
