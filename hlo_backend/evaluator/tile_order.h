// Bitcasts whose tiles decide which element becomes which: a bitcast moves no
// byte, so what it names is what lies there.
//
//   f32[2,8,128]{2,1,0:T(8,128)} bitcast(f32[8,256]{1,0:T(8,128)} x)
//       element [1,r,c] is x[r, 128 + c]: the tiles follow one another
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_TILE_ORDER_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_TILE_ORDER_H_

#include <optional>

#include "hlo_backend/evaluator/value.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// `x`, which lies as `from`, read as `to`: of as many elements of the same
// width. Nothing: their dimensions, in the order of their layouts, say the same
// (or there are no tiles, or padding would be read).
std::optional<Value> AtSameBytes(const Value& x, const Shape& from,
                                 ShapeRef to);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_TILE_ORDER_H_
