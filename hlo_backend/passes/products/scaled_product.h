// Elementwise work of one array behind a product whose columns are split, done
// before they are: its kernel takes the work, and what is moved is scaled and
// rounded already.
//
//   s = f32[1024,8,96] reshape(f32[1024,768] dot(q, k))
//   m = f32[1024,8,96] multiply(s, broadcast(scale))
//   ==> reshape(multiply(dot(q, k), broadcast(scale)))
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCALED_PRODUCT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCALED_PRODUCT_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of a reshape of a dot to an array, whose user is replaced, and the user's
// user, while they read no other arrays. (Rounded to less only before whole
// tiles of lanes: fewer would be split at the price of many.)
void ScaleBeforeSplit(Instruction* reshape);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_SCALED_PRODUCT_H_
