#include "hlo_backend/passes/products/blocked_images.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/plane_windows.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/expanders/reduce_start.h"

namespace ptxla::hlo {
namespace {

// Work whose result can be in blocks.
bool MayFollow(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kTranspose:
    case Opcode::kBroadcast:
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
    case Opcode::kConcatenate:
    case Opcode::kSlice:
      return true;
    case Opcode::kReshape: {
      // A sum of features whose dimension is kept, or goes in the end.
      const DimVector &in = i.operand(0)->shape().dims(),
                      &out = i.shape().dims();
      return !in.empty() && !out.empty() && in.back() != out.back() &&
             (in.back() == 1 || out.back() == 1) &&
             DropUnitDims(in) == DropUnitDims(out);
    }
    default:
      return i.IsElementwise();
  }
}

// Of planes: a mean over images, statistics of features.
bool IsSum(const Instruction& i) {
  return i.opcode() == Opcode::kReduce && i.dimensions().size() > 1;
}

// What `x` repeats, behind transposes, and where its dimensions are in `x`.
bool FromBroadcast(Instruction** x, DimVector* to) {
  // to[d]: where dimension d of *x is in the array.
  for (; (*x)->opcode() == Opcode::kTranspose; *x = (*x)->operand(0)) {
    DimVector at(to->size(), 0);
    for (size_t d = 0; d < to->size(); ++d) {
      at[(*x)->dimensions()[d]] = (*to)[d];
    }
    *to = at;
  }
  if ((*x)->opcode() != Opcode::kBroadcast) return false;
  DimVector at;
  for (const int64_t d : (*x)->dimensions()) at.push_back((*to)[d]);
  *to = at;
  *x = (*x)->operand(0);
  return true;
}

// `i` of `v`, whose planes it reduces: the array itself.
Instruction* ReducedPlanes(Builder* b, const BlockedValue& v,
                           const Instruction& i) {
  const auto dims = i.dimensions();
  Instruction* all = Filled(b, v, i.operand(1));
  const bool joins = Contains(dims, v.batch);
  const int64_t batch = v.At(v.batch);
  if (!joins) all = b->Reshape(all, Apart(v));
  DimVector at, left;
  for (size_t k = 0; k < v.order.size(); ++k) {
    const auto place = static_cast<int64_t>(k);
    if (Contains(dims, v.order[k])) {
      at.push_back(place + (!joins && place > batch ? 1 : 0));
    } else {
      left.push_back(v.order[k]);
    }
  }
  if (!joins) at.push_back(batch + 1);
  std::sort(at.begin(), at.end());
  Instruction* sum = b->Reduce(all, i.operand(1), at, i.to_apply());
  // Back to the order of the array's dimensions.
  DimVector sorted = left, permutation;
  std::sort(sorted.begin(), sorted.end());
  for (const int64_t d : sorted) {
    permutation.push_back(std::find(left.begin(), left.end(), d) -
                          left.begin());
  }
  return IsIdentityMapping(permutation) ? sum : b->Transpose(sum, permutation);
}

}  // namespace

BlockedImages::BlockedImages(absl::Span<Instruction* const> order) {
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const Instruction* i = *it;
    const bool is_wanted = std::any_of(
        i->users().begin(), i->users().end(), [&](const Instruction* user) {
          return user->opcode() == Opcode::kConvolution || IsSum(*user) ||
                 (MayFollow(*user) && wanted_.contains(user));
        });
    if (is_wanted) wanted_.insert(i);
  }
}

Builder BlockedImages::BuilderOf(Instruction* i) {
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  return b;
}

const BlockedValue* BlockedImages::Of(const Instruction* x) const {
  const auto it = values_.find(x);
  return it == values_.end() ? nullptr : &it->second;
}

void BlockedImages::Add(const Instruction* x, BlockedValue v) {
  values_.insert_or_assign(x, std::move(v));
}

const BlockedValue& BlockedImages::Cut(Instruction* x, int64_t planes,
                                       const BlockedValue& like) {
  if (const BlockedValue* v = Of(x);
      v != nullptr && v->axis == like.axis && v->batch == like.batch &&
      v->blocks == like.blocks && v->planes() == planes) {
    return *v;
  }
  Builder b = BuilderOf(x);
  Add(x, CutIntoBlocks(&b, x, planes, like));
  return *Of(x);
}

Instruction* BlockedImages::Follow(Instruction* i) {
  if (i->opcode() == Opcode::kTranspose) {
    if (const BlockedValue* v = Of(i->operand(0))) {
      BlockedValue turned = *v;
      const auto dims = i->dimensions();
      const auto at = [&](int64_t d) {
        return std::find(dims.begin(), dims.end(), d) - dims.begin();
      };
      for (int64_t& d : turned.order) d = at(d);
      turned.axis = at(v->axis);
      turned.batch = at(v->batch);
      Add(i, std::move(turned));
    }
    return nullptr;
  }
  if (i->opcode() == Opcode::kReduce) return Reduce(i);
  if (!wanted_.contains(i)) return nullptr;
  switch (i->opcode()) {
    case Opcode::kReduceWindow:
      return ReduceWindow(i);
    case Opcode::kBroadcast:
      return Broadcast(i);
    case Opcode::kConcatenate:
      return Concatenate(i);
    case Opcode::kSlice:
      return Slice(i);
    case Opcode::kReshape:
      return Reshape(i);
    default:
      return i->IsElementwise() ? Elementwise(i) : nullptr;
  }
}

Instruction* BlockedImages::Elementwise(Instruction* i) {
  const BlockedValue* like = FirstOf(*i);
  if (like == nullptr) return nullptr;
  for (const Instruction* x : i->operands()) {
    // Bits may be those of more elements, or of fewer.
    if (!x->shape().IsScalar() && !x->shape().SameDims(i->shape())) {
      return nullptr;
    }
  }
  BlockedValue made = *like;
  Builder b = BuilderOf(i);
  std::vector<Instruction*> operands;
  for (Instruction* x : i->operands()) {
    operands.push_back(Beside(&b, x, made));
    if (operands.back() == nullptr) return nullptr;
  }
  made.value = i->parent()->AddLike(
      *i, Shape::Array(i->shape().type(), made.value->shape().dims()),
      operands);
  made.zeros = false;
  return Replaced(&b, std::move(made));
}

const BlockedValue* BlockedImages::FirstOf(const Instruction& i) const {
  for (const Instruction* operand : i.operands()) {
    if (const BlockedValue* v = Of(operand)) return v;
  }
  return nullptr;
}

Instruction* BlockedImages::Beside(Builder* b, Instruction* x,
                                   const BlockedValue& like) {
  const DimVector& dims = like.value->shape().dims();
  if (x->shape().rank() == 0) return x;
  if (const BlockedValue* v = Of(x)) {
    return AreCutAlike(*v, like) ? InOrder(b, *v, like.order) : nullptr;
  }
  Instruction* from = x;
  DimVector to = Identity(x->shape().rank());
  if (!FromBroadcast(&from, &to)) {
    return InOrder(b, Cut(x, like.planes(), like), like.order);
  }
  if (from->shape().rank() == 0) return b->BroadcastScalar(from, dims);
  return Repeated(b, from, to, like);
}

Instruction* BlockedImages::Reduce(Instruction* i) {
  if (i->operand_count() != 2) return nullptr;
  const BlockedValue* from = Of(i->operand(0));
  if (from == nullptr) return nullptr;
  BlockedValue v = *from;
  const auto dims = i->dimensions();
  Builder b = BuilderOf(i);
  if (!Contains(dims, v.axis)) {
    if (Contains(dims, v.batch) || !wanted_.contains(i)) return nullptr;
    DimVector at, order;
    for (const int64_t d : dims) at.push_back(v.At(d));
    const auto left = [&](int64_t d) {
      return d - std::count_if(dims.begin(), dims.end(),
                               [d](int64_t r) { return r < d; });
    };
    for (const int64_t d : v.order) {
      if (!Contains(dims, d)) order.push_back(left(d));
    }
    std::sort(at.begin(), at.end());
    v.value = b.Reduce(v.value, i->operand(1), at, i->to_apply());
    v.order = std::move(order);
    v.axis = left(v.axis);
    v.batch = left(v.batch);
    v.zeros = false;
    return Replaced(&b, std::move(v));
  }
  return StartIsNeutral(*i) ? ReducedPlanes(&b, v, *i) : nullptr;
}

Instruction* BlockedImages::ReduceWindow(Instruction* i) {
  if (i->operand_count() != 2) return nullptr;
  Instruction* x = i->operand(0);
  if (Of(x) == nullptr) return nullptr;
  BlockedValue v = *Of(x);
  const auto& dims = i->attrs<WindowAttrs>().window.dims;
  const WindowDim& w = dims[v.axis];
  const int64_t reach = (w.size - 1) * w.window_dilation + 1;
  const int64_t low = w.padding_low;
  const int64_t high = std::max<int64_t>(reach - w.stride - low, 0);
  // As few as hold the image, where those of `v` are no whole steps.
  const int64_t planes =
      v.planes() % w.stride == 0
          ? v.planes()
          : RoundUpTo(CeilOfRatio(v.length, v.blocks), w.stride);
  const int64_t results = i->shape().dim(v.axis);
  if (!IsIdentity(dims[v.batch]) || w.base_dilation != 1 || low < 0 ||
      low >= reach || low > planes || high > planes ||
      planes / w.stride * v.blocks < results || !StartMayRepeat(*i)) {
    return nullptr;
  }
  Builder b = BuilderOf(i);
  v = Cut(x, planes, v);
  if (w.padding_high > 0) v.value = Filled(&b, v, i->operand(1));
  Window window;
  for (const int64_t d : v.order) window.dims.push_back(dims[d]);
  WindowDim& along = window.dims[v.At(v.axis)];
  along.padding_low = along.padding_high = 0;
  v.value = b.ReduceWindow({WithNeighbours(&b, v, low, high, i->operand(1))},
                           {i->operand(1)}, std::move(window), i->to_apply());
  v.length = results;
  v.zeros = false;
  return Replaced(&b, std::move(v));
}

Instruction* BlockedImages::Broadcast(Instruction* i) {
  const BlockedValue* from = Of(i->operand(0));
  if (from == nullptr) return nullptr;
  BlockedValue v = *from;
  const auto to = i->dimensions();
  DimVector dims = v.value->shape().dims();
  for (int64_t& d : v.order) d = to[d];
  v.axis = to[v.axis];
  v.batch = to[v.batch];
  const DimVector places = Identity(v.value->shape().rank());
  for (int64_t d = 0; d < i->shape().rank(); ++d) {
    if (Contains(to, d)) continue;
    v.order.push_back(d);
    dims.push_back(i->shape().dim(d));
  }
  Builder b = BuilderOf(i);
  v.value = b.Broadcast(v.value, dims, places);
  return Replaced(&b, std::move(v));
}

Instruction* BlockedImages::Replaced(Builder* b, BlockedValue v) {
  Instruction* whole = WholeImage(b, v);
  Add(whole, std::move(v));
  return whole;
}

}  // namespace ptxla::hlo
