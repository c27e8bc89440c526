// Small arithmetic on lists of dimensions that several passes share, beside
// that of ir/dimensions.h.
#ifndef PTXLA_HLO_BACKEND_PASSES_DIMENSION_UTILS_H_
#define PTXLA_HLO_BACKEND_PASSES_DIMENSION_UTILS_H_

#include <cstdint>

#include "absl/types/span.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

bool HasUnitDims(const Shape& shape);
// {1, 8, 1, 4} -> {8, 4}.
DimVector DropUnitDims(absl::Span<const int64_t> dims);
// Those in front of the last two alone: {1, 8, 1, 4} -> {8, 1, 4}.
DimVector DropOuterUnitDims(absl::Span<const int64_t> dims);
// Positions of the dimensions that are not 1.
DimVector NonUnitPositions(absl::Span<const int64_t> dims);
bool IsIdentityMapping(absl::Span<const int64_t> mapping);
bool IsIncreasing(absl::Span<const int64_t> list);
// 0 .. rank-1; with the last two in the other order, its own inverse.
DimVector Identity(int rank);
DimVector LastTwoSwapped(int rank);
// 0 .. rank-1 without those in any of the lists, in order.
DimVector Others(int rank, absl::Span<const int64_t> a,
                 absl::Span<const int64_t> b = {});
// result[i] = dims[permutation[i]].
DimVector Permuted(absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> permutation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_DIMENSION_UTILS_H_
