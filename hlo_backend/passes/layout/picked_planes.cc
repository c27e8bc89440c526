#include "hlo_backend/passes/layout/picked_planes.h"

#include <algorithm>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {

DimVector PlanesAlong(const Shape& shape, int64_t d, int generation) {
  constexpr size_t kMostTried = 5;  // 120 orders
  DimVector others;
  for (int64_t k = 0; k < shape.rank(); ++k) {
    if (k != d) others.push_back(k);
  }
  const auto with_front = [&](const DimVector& rest) {
    DimVector order = {d};
    order.insert(order.end(), rest.begin(), rest.end());
    return order;
  };
  const auto bytes = [&](const DimVector& rest) {
    return TpuBytes(
        Shape::Array(shape.type(), Permuted(shape.dims(), with_front(rest))),
        generation);
  };
  DimVector best = others;
  if (others.size() > kMostTried) return with_front(best);
  while (std::next_permutation(others.begin(), others.end())) {
    if (bytes(others) < bytes(best)) best = others;
  }
  return with_front(best);
}

bool MovesMany(const Instruction& i, int64_t d) {
  const int rank = i.shape().rank();
  if (rank < 2 || d + 2 < rank || BitWidth(i.shape().type()) > 32 ||
      BitWidth(i.shape().type()) < 8) {
    return false;
  }
  const int64_t elements = i.shape().ElementCount();
  if (d + 1 == rank) return elements >= kManyLanes;
  const int64_t lanes = i.shape().dims().back();
  return elements >= kManyRows ||
         elements / lanes * RoundUpTo(lanes, kLanes) >= kManyPaddedRows;
}

Instruction* PickedPlanes(Builder& b, Instruction* x, int64_t d, int64_t start,
                          int64_t step, int64_t count, int generation) {
  const Shape& shape = x->shape();
  const DimVector order = PlanesAlong(shape, d, generation);
  Instruction* planes = Transposed(&b, x, order);
  DimVector dims = Permuted(shape.dims(), order);
  Instruction* picked = nullptr;
  if (shape.rank() > 2) {
    DimVector starts(dims.size(), 0), strides(dims.size(), 1);
    if (step > 0) {
      starts[0] = start;
      dims[0] = start + (count - 1) * step + 1;
      strides[0] = step;
      picked = b.Slice(planes, starts, dims, strides);
    } else {
      picked = b.Reverse(planes, {0});
    }
  } else {
    const auto all = [&](int64_t value) {
      return b.BroadcastScalar(
          b.ConstantScalar(PrimitiveType::kS32, static_cast<double>(value)),
          {count});
    };
    Instruction* index =
        b.Add(b.Multiply(b.Iota(Shape::Array(PrimitiveType::kS32, {count}), 0),
                         all(step)),
              all(start));
    GatherAttrs a;
    a.offset_dims = {1};
    a.collapsed_slice_dims = {0};
    a.start_index_map = {0};
    a.index_vector_dim = 1;
    a.slice_sizes = {1, dims[1]};
    picked = b.Gather(planes, index, a);
  }
  return b.Transpose(picked, Inverse(order));
}

}  // namespace ptxla::hlo
