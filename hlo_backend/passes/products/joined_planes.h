// Slices of planes that a program joins along lanes before it takes them apart
// again, moved in front of the join.
//
//   %j = f32[m,2n] reshape(f32[m,2,n] %y)
//   slice(%j, [0:m], [n:2n])
//   ==> reshape(slice(%y, [0:m], [1:2], [0:n]))
//
// A conversion of what has been joined is passed, too.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_JOINED_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_JOINED_PLANES_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Planes that the program joins, made of a matrix and of weights that are
// larger than they. The TPU compiler stores all of them as f32 and copies them
// into the order of the joined ones; that is dear where they are larger than
// the weights, and no better form of ours stands for it.
bool JoinsPlanesOfLargeWeights(const Instruction& i);

// Of a reshape or a convert that nobody reads but such slices, of at most
// `most` planes; it is removed. False: it is none.
bool SlicesBeforeJoin(Instruction* join, int64_t most);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_JOINED_PLANES_H_
