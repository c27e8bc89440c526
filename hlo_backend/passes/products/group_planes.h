// Groups of a convolution as planes: an axis more, outside of the others, along
// which each result sees the input and the kernel of its own number only.
//
//   x [n,h,w,1024], w [3,3,128,1024], feature_group_count=8
//   ==> x [n,h,w,8,128], w [3,3,128,8,128], window={size=8x3x3 stride=7x1x1
//       lhs_dilate=8x1x1}
//
// Nothing is multiplied with zeros so, and an infinity stays in its group; the
// TPU compiler has groups so (libtpu 0.0.42.1). The other way: group_axis.h.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_PLANES_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/products/convolution_parts.h"

namespace ptxla::hlo {

// Groups with so many inputs and results each leave neither lanes nor rows of
// weights empty. `rows`: that a gradient contracts; they fill tiles.
bool FillPlanes(int64_t inputs, int64_t results, int64_t rows = 8);

// `of`: the dimension of the input that the groups part. Counts of groups in
// the attributes are the caller's.
void MakePlanesOfGroups(Builder* b, int64_t groups, int64_t of,
                        ConvolutionParts* parts);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUP_PLANES_H_
