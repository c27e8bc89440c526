#include "hlo_backend/passes/dimension_utils.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace ptxla::hlo {

bool HasUnitDims(const Shape& shape) { return Contains(shape.dims(), 1); }

DimVector DropUnitDims(absl::Span<const int64_t> dims) {
  DimVector result;
  for (int64_t d : dims) {
    if (d != 1) result.push_back(d);
  }
  return result;
}

DimVector DropOuterUnitDims(absl::Span<const int64_t> dims) {
  DimVector kept;
  for (size_t d = 0; d < dims.size(); ++d) {
    if (d + 2 >= dims.size() || dims[d] != 1) kept.push_back(dims[d]);
  }
  return kept;
}

DimVector NonUnitPositions(absl::Span<const int64_t> dims) {
  DimVector result;
  for (size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] != 1) result.push_back(static_cast<int64_t>(i));
  }
  return result;
}

bool IsIdentityMapping(absl::Span<const int64_t> mapping) {
  for (size_t i = 0; i < mapping.size(); ++i) {
    if (mapping[i] != static_cast<int64_t>(i)) return false;
  }
  return true;
}

bool IsIncreasing(absl::Span<const int64_t> list) {
  return std::is_sorted(list.begin(), list.end());
}

DimVector Identity(int rank) {
  DimVector order(rank, 0);
  std::iota(order.begin(), order.end(), 0);
  return order;
}

DimVector LastTwoSwapped(int rank) {
  DimVector order = Identity(rank);
  std::swap(order[rank - 2], order[rank - 1]);
  return order;
}

DimVector Others(int rank, absl::Span<const int64_t> a,
                 absl::Span<const int64_t> b) {
  DimVector result;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(a, d) && !Contains(b, d)) result.push_back(d);
  }
  return result;
}

DimVector Permuted(absl::Span<const int64_t> dims,
                   absl::Span<const int64_t> permutation) {
  DimVector result;
  for (int64_t p : permutation) result.push_back(dims[p]);
  return result;
}

}  // namespace ptxla::hlo
