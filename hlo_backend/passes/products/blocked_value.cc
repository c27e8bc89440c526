#include "hlo_backend/passes/products/blocked_value.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Whether a plane lies within the axis. Blocks are a power of two.
Instruction* Mask(Builder* b, const BlockedValue& v) {
  const DimVector& dims = v.value->shape().dims();
  const Shape shape = Shape::Array(kS32, dims);
  const auto all = [&](int64_t n) {
    return b->BroadcastScalar(b->ConstantScalar(kS32, static_cast<double>(n)),
                              dims);
  };
  Instruction* block = b->Iota(shape, v.At(v.batch));
  if (v.members() > 1) {
    block = b->And(block, all(v.blocks - 1));
  }
  Instruction* plane =
      b->Add(b->Multiply(block, all(v.planes())), b->Iota(shape, v.At(v.axis)));
  return b->Compare(plane, all(v.length), CompareDirection::kLt);
}

// [batch, planes, others].
DimVector PlanesFirst(const BlockedValue& v) {
  DimVector first = {v.batch, v.axis};
  for (const int64_t d : v.order) {
    if (d != v.batch && d != v.axis) first.push_back(d);
  }
  return first;
}

// Planes that each block sees of the next one, or of the one before.
Instruction* Neighbours(Builder* b, const BlockedValue& v, int64_t planes,
                        bool next, Instruction* border) {
  const int64_t axis = v.At(v.axis), batch = v.At(v.batch);
  DimVector starts(v.value->shape().rank(), 0),
      limits = v.value->shape().dims();
  if (next) {
    limits[axis] = planes;
  } else {
    starts[axis] = v.planes() - planes;
  }
  Instruction* seen = b->Slice(v.value, starts, limits);
  BlockedValue part = v;
  part.value = seen;
  DimVector apart = Apart(part);
  const int64_t blocks = batch + 1;
  starts.assign(apart.size(), 0);
  limits = apart;
  std::vector<PaddingDim> padding(apart.size());
  if (next) {
    starts[blocks] = 1;
    padding[blocks].high = 1;
  } else {
    --limits[blocks];
    padding[blocks].low = 1;
  }
  Instruction* shifted = b->Pad(
      b->Slice(b->Reshape(seen, apart), starts, limits), border, padding);
  return b->Reshape(shifted, seen->shape().dims());
}

// `x`, whose dimensions are `places` of those with the blocks apart, for each
// member of the blocks: a few numbers, that what repeats them need not be
// joined.
Instruction* Joined(Builder* b, Instruction* x, const BlockedValue& like,
                    DimVector* places) {
  const int64_t batch = like.At(like.batch);
  DimVector all = *places;
  for (const int64_t at : {batch, batch + 1}) {
    if (!Contains(all, at)) all.push_back(at);
  }
  std::sort(all.begin(), all.end());
  const DimVector apart = Apart(like);
  DimVector sizes, have, joined;
  for (size_t k = 0; k < all.size(); ++k) {
    sizes.push_back(apart[all[k]]);
    if (Contains(*places, all[k])) have.push_back(static_cast<int64_t>(k));
  }
  if (have.size() != all.size()) x = b->Broadcast(x, sizes, have);
  places->clear();
  for (size_t k = 0; k < all.size(); ++k) {
    if (all[k] == batch + 1) {
      joined.back() *= sizes[k];
      continue;
    }
    joined.push_back(sizes[k]);
    places->push_back(all[k] > batch ? all[k] - 1 : all[k]);
  }
  return b->Reshape(x, joined);
}

}  // namespace

int64_t BlockedValue::At(int64_t dimension) const {
  return std::find(order.begin(), order.end(), dimension) - order.begin();
}

bool AreCutAlike(const BlockedValue& a, const BlockedValue& b) {
  return a.axis == b.axis && a.batch == b.batch && a.blocks == b.blocks &&
         a.length == b.length && a.planes() == b.planes() &&
         a.members() == b.members();
}

DimVector Apart(const BlockedValue& v) {
  DimVector dims = v.value->shape().dims();
  const int64_t at = v.At(v.batch);
  dims[at] = v.blocks;
  dims.insert(dims.begin() + at, v.members());
  return dims;
}

Instruction* InOrder(Builder* b, const BlockedValue& v,
                     const DimVector& order) {
  DimVector permutation;
  for (const int64_t d : order) permutation.push_back(v.At(d));
  return IsIdentityMapping(permutation) ? v.value
                                        : b->Transpose(v.value, permutation);
}

BlockedValue CutIntoBlocks(Builder* b, Instruction* x, int64_t planes,
                           const BlockedValue& like) {
  BlockedValue v = like;
  v.zeros = true;
  DimVector first = PlanesFirst(v);
  Instruction* y = IsIdentityMapping(first) ? x : b->Transpose(x, first);
  if (v.length != planes * v.blocks) {
    std::vector<PaddingDim> padding(first.size());
    padding[1].high = planes * v.blocks - v.length;
    y = b->Pad(y, b->Zero(x->shape().type()), padding);
  }
  DimVector cut = y->shape().dims();
  cut[0] *= v.blocks;
  cut[1] = planes;
  v.value = b->Reshape(y, cut);
  v.order = std::move(first);
  v.value = InOrder(b, v, like.order);
  v.order = like.order;
  return v;
}

Instruction* WholeImage(Builder* b, const BlockedValue& v) {
  const DimVector first = PlanesFirst(v);
  Instruction* y = InOrder(b, v, first);
  DimVector joined = y->shape().dims();
  joined[0] = v.members();
  joined[1] = v.blocks * v.planes();
  y = b->Reshape(y, joined);
  if (joined[1] != v.length) {
    joined[1] = v.length;
    y = b->Slice(y, DimVector(joined.size(), 0), joined);
  }
  DimVector back(first.size(), 0);
  for (size_t k = 0; k < first.size(); ++k) {
    back[first[k]] = static_cast<int64_t>(k);
  }
  return IsIdentityMapping(back) ? y : b->Transpose(y, back);
}

Instruction* Filled(Builder* b, const BlockedValue& v, Instruction* value) {
  if (v.planes() * v.blocks == v.length) return v.value;
  return b->Select(Mask(b, v), v.value,
                   b->BroadcastScalar(value, v.value->shape().dims()));
}

Instruction* WithZeros(Builder* b, const BlockedValue& v) {
  return v.zeros ? v.value : Filled(b, v, b->Zero(v.value->shape().type()));
}

Instruction* WithNeighbours(Builder* b, const BlockedValue& v, int64_t low,
                            int64_t high, Instruction* border) {
  std::vector<Instruction*> parts;
  if (low > 0) parts.push_back(Neighbours(b, v, low, false, border));
  parts.push_back(v.value);
  if (high > 0) parts.push_back(Neighbours(b, v, high, true, border));
  return parts.size() == 1 ? v.value : b->Concatenate(parts, v.At(v.axis));
}

Instruction* Repeated(Builder* b, Instruction* x, const DimVector& to,
                      const BlockedValue& like) {
  const int64_t batch = like.At(like.batch);
  // Members and their blocks are two dimensions where it varies with one.
  const bool apart = Contains(to, like.batch) || Contains(to, like.axis);
  DimVector places;
  for (const int64_t d : to) {
    const int64_t at = like.At(d);
    places.push_back(apart && at > batch ? at + 1 : at);
  }
  const auto axis = std::find(to.begin(), to.end(), like.axis) - to.begin();
  if (axis < static_cast<int64_t>(to.size())) {
    std::vector<PaddingDim> padding(to.size());
    padding[axis].high = like.planes() * like.blocks - like.length;
    if (padding[axis].high > 0) {
      x = b->Pad(x, b->Zero(x->shape().type()), padding);
    }
    DimVector cut = x->shape().dims();
    cut[axis] = like.planes();
    cut.insert(cut.begin() + axis, like.blocks);
    x = b->Reshape(x, cut);
    places.insert(places.begin() + axis, batch + 1);
  }
  DimVector order = Identity(static_cast<int>(places.size()));
  std::sort(order.begin(), order.end(),
            [&](int64_t p, int64_t q) { return places[p] < places[q]; });
  if (!IsIdentityMapping(order)) x = b->Transpose(x, order);
  std::sort(places.begin(), places.end());
  if (apart) x = Joined(b, x, like, &places);
  return b->Broadcast(x, like.value->shape().dims(), places);
}

}  // namespace ptxla::hlo
