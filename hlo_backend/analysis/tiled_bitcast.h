// Does a reshape move bytes?
//
//   IsTiledBitcast(f32[1024,64]{1,0:T(8,128)}, f32[8,128,64]{2,1,0:T(8,128)})
//       == true: the rows follow one another in whole tiles
//   IsTiledBitcast(f32[8,128]{1,0:T(8,128)}, f32[8,2,64]{2,1,0:T(2,128)})
//       == false
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_TILED_BITCAST_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_TILED_BITCAST_H_

#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// True when the elements, in row-major order of each shape's logical
// dimensions, lie at the same bytes in both layouts, and the second takes no
// more bytes than the first. Both have layouts and as many elements of the
// same width. May say false where the answer is hard to see.
bool IsTiledBitcast(const Shape& from, const Shape& to);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_TILED_BITCAST_H_
