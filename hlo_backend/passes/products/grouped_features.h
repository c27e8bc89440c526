// Groups of features as parts of a dense convolution: the kernel with zeros
// between the groups, and of a dense result the part of each group.
//
// Neither takes the lanes apart: a dimension of groups of a few lanes each
// would fill only those of a tile. Which lanes belong to a group is a
// comparison of their numbers.
//
//   // [3,3,8,256] of 32 groups -> [3,3,256,256]
//   Instruction* dense = DenseKernel(&b, kernel, 32);
//   // [3,3,256,256] -> [3,3,8,256]
//   Instruction* own = OwnParts(&b, dense, 32);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUPED_FEATURES_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUPED_FEATURES_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// `kernel`: [.. features of a group, O], O a multiple of `groups`. The result:
// [.. features of all groups, O], zero where input and output are of different
// groups.
Instruction* DenseKernel(Builder* b, Instruction* kernel, int64_t groups);

// `dense`: [.. N, O], both multiples of `groups`. The result [.. N / groups, O]
// has of each column the rows of its group.
Instruction* OwnParts(Builder* b, Instruction* dense, int64_t groups);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_GROUPED_FEATURES_H_
