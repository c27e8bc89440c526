#include "hlo_backend/evaluator/tile_order.h"

#include <cstring>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/tiled_bitcast.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

// The same bytes, with the dimensions in the order in which they lie.
Shape InOrder(const Shape& shape) {
  const DimVector& order = shape.layout().minor_to_major;
  DimVector dims(order.size()), row_major(order.size());
  for (size_t i = 0; i < order.size(); ++i) {
    dims[order.size() - 1 - i] = shape.dim(static_cast<int>(order[i]));
    row_major[i] = static_cast<int64_t>(order.size() - 1 - i);
  }
  Shape result = Shape::Array(shape.type(), dims);
  *result.mutable_layout() = shape.layout();
  result.mutable_layout()->minor_to_major = row_major;
  return result;
}

// Calls `see` with where each element lies, in units of elements, row-major.
template <class See>
bool ForEachPlace(const Shape& shape, See see) {
  const auto indexer = TiledIndexer::Create(shape);
  if (!indexer.ok()) return false;
  const int bits = ElementBits(shape);
  DimVector index(shape.rank(), 0);
  for (int64_t k = 0, count = shape.ElementCount(); k < count; ++k) {
    see(k, indexer->BitOffset(index) / bits);
    for (int d = shape.rank(); d-- > 0;) {
      if (++index[d] < shape.dim(d)) break;
      index[d] = 0;
    }
  }
  return true;
}

}  // namespace

std::optional<Value> AtSameBytes(const Value& x, const Shape& from,
                                 ShapeRef to) {
  if (x.IsSplat() || !HasTiles(from) || !HasTiles(*to) ||
      ElementBits(from) != ElementBits(*to) ||
      IsTiledBitcast(InOrder(from), InOrder(*to))) {
    return std::nullopt;
  }
  std::vector<int64_t> element_at(PaddedBytes(from) * 8 / ElementBits(from),
                                  -1);
  const int bytes = x.element_bytes();
  Value out = Value::NewArray(to);
  uint8_t* result = out.Mutable();
  bool padding = false;
  const auto place_element = [&](int64_t k, int64_t place) {
    element_at[place] = k;
  };
  const auto take_element = [&](int64_t k, int64_t place) {
    const bool inside = place < static_cast<int64_t>(element_at.size());
    const int64_t element = inside ? element_at[place] : -1;
    padding = padding || element < 0;
    if (element >= 0) {
      std::memcpy(result + k * bytes, x.element(element), bytes);
    }
  };
  if (!ForEachPlace(from, place_element) || !ForEachPlace(*to, take_element) ||
      padding) {
    return std::nullopt;
  }
  return out;
}

}  // namespace ptxla::hlo
