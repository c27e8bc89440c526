// BlockedImages: parts of features, features put together, other names.
#include <utility>
#include <vector>

#include "hlo_backend/passes/products/blocked_images.h"

namespace ptxla::hlo {

// Of features: those of a layer before beside those of this one.
Instruction* BlockedImages::Concatenate(Instruction* i) {
  const int64_t d = i->dimensions()[0];
  const BlockedValue* like = FirstOf(*i);
  if (like == nullptr || d == like->axis || d == like->batch) return nullptr;
  BlockedValue made = *like;
  Builder b = BuilderOf(i);
  std::vector<Instruction*> parts;
  for (Instruction* x : i->operands()) {
    const BlockedValue* v = Of(x);
    if (v != nullptr && !AreCutAlike(*v, made)) return nullptr;
    parts.push_back(InOrder(&b, Cut(x, made.planes(), made), made.order));
  }
  const int64_t at = made.At(d);
  made.value = b.Concatenate(parts, at);
  made.zeros = false;
  return Replaced(&b, std::move(made));
}

// Some of the features.
Instruction* BlockedImages::Slice(Instruction* i) {
  const BlockedValue* from = Of(i->operand(0));
  if (from == nullptr) return nullptr;
  BlockedValue v = *from;
  for (const int64_t d : {v.axis, v.batch}) {
    const int dim = static_cast<int>(d);
    if (i->shape().dim(dim) != i->operand(0)->shape().dim(dim)) return nullptr;
  }
  const auto& attrs = i->attrs<SliceAttrs>();
  DimVector starts(v.order.size(), 0), limits = v.value->shape().dims(),
                                       strides(v.order.size(), 1);
  for (size_t k = 0; k < v.order.size(); ++k) {
    const int64_t d = v.order[k];
    if (d == v.axis || d == v.batch) continue;
    starts[k] = attrs.starts[d];
    limits[k] = attrs.limits[d];
    strides[k] = attrs.strides[d];
  }
  Builder b = BuilderOf(i);
  v.value = b.Slice(v.value, starts, limits, strides);
  return Replaced(&b, std::move(v));
}

// Dimensions of one that come or go, of values without features: the mean of a
// position, as frameworks keep its dimension.
Instruction* BlockedImages::Reshape(Instruction* i) {
  const BlockedValue* from = Of(i->operand(0));
  if (from == nullptr || from->order.back() != from->batch) return nullptr;
  const DimVector &in = i->operand(0)->shape().dims(), &out = i->shape().dims();
  DimVector to(in.size(), -1), added;  // -1: it goes
  size_t d = 0;
  for (size_t k = 0; k < out.size(); ++k) {
    while (d < in.size() && in[d] != out[k] && in[d] == 1) ++d;
    if (d < in.size() && in[d] == out[k]) {
      to[d++] = static_cast<int64_t>(k);
    } else if (out[k] == 1) {
      added.push_back(static_cast<int64_t>(k));
    } else {
      return nullptr;
    }
  }
  for (; d < in.size(); ++d) {
    if (in[d] != 1) return nullptr;
  }
  BlockedValue v = *from;
  if (to[v.axis] < 0 || to[v.batch] < 0) return nullptr;
  // Those that come are outside: none of them fills a lane.
  DimVector order = added, sizes(added.size(), 1);
  for (size_t k = 0; k < v.order.size(); ++k) {
    if (to[v.order[k]] < 0) continue;
    order.push_back(to[v.order[k]]);
    sizes.push_back(v.value->shape().dim(static_cast<int>(k)));
  }
  Builder b = BuilderOf(i);
  v.value = b.Reshape(v.value, sizes);
  v.order = std::move(order);
  v.axis = to[v.axis];
  v.batch = to[v.batch];
  return Replaced(&b, std::move(v));
}

}  // namespace ptxla::hlo
