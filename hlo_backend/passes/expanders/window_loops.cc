#include "hlo_backend/passes/expanders/window_loops.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/scatter_body.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/passes/expanders/counter_loop.h"
#include "hlo_backend/passes/expanders/expand_each.h"
#include "hlo_backend/passes/expanders/index_vectors.h"
#include "hlo_backend/passes/simplify/elementwise_body.h"

namespace ptxla::hlo {
namespace {

bool IsOneOperationEach(const Computation& body, int64_t arrays) {
  for (int k = 0; k < arrays; ++k) {
    if (!IsOneOperation(body, k, static_cast<int>(arrays))) return false;
  }
  return true;
}

// Numbers of two words, and a body that does not take them word by word: all
// but replacing, sums of complex numbers, and those of integers, which are
// digits (x64_sum_expander.h).
bool JoinsWords(const Computation& body, const Shape& x) {
  if (BitWidth(x.type()) < 64) return false;
  const Instruction& root = *body.root();
  if (root.opcode() == Opcode::kParameter) return root.parameter_number() == 0;
  return IsFloat(x.type()) || MonoidOf(body) != Opcode::kAdd;
}

int64_t CountOf(const Shape& indices, int64_t vector_dim) {
  const int64_t all = indices.ElementCount();
  return vector_dim < indices.rank()
             ? all / indices.dim(static_cast<int>(vector_dim))
             : all;
}

// WindowAt `n` of [count, sizes...], of `sizes`.
Instruction* WindowAt(Builder& b, Instruction* all, Instruction* n,
                      const DimVector& sizes) {
  DimVector one = {1};
  one.insert(one.end(), sizes.begin(), sizes.end());
  std::vector<Instruction*> starts(one.size(), b.Zero(n->shape().type()));
  starts[0] = n;
  return b.Reshape(b.DynamicSlice(all, starts, one), sizes);
}

DimVector WithCount(int64_t count, const DimVector& sizes) {
  DimVector dims = {count};
  dims.insert(dims.end(), sizes.begin(), sizes.end());
  return dims;
}

// Windows of more tiles are moved one after another (libtpu 0.0.42.1, v6e:
// windows of 512 tiles of f32 are not, of 513 are).
constexpr int64_t kMostTiles = 512;

// Of rows by lanes, the last two of `dims`.
int64_t TilesOf(const DimVector& dims) {
  int64_t tiles = 1;
  for (size_t k = 0; k + 2 < dims.size(); ++k) tiles *= dims[k];
  return tiles * CeilOfRatio(dims[dims.size() - 2], kTileRows) *
         CeilOfRatio(dims.back(), kLanes);
}

class Gather {
 public:
  explicit Gather(Instruction* i)
      : i_(i), a_(i->attrs<GatherAttrs>()), x_(i->operand(0)) {}

  bool IsLoop() const {
    if (CountOf(i_->operand(1)->shape(), a_.index_vector_dim) == 1) {
      return false;
    }
    // What is left of a window is one tile or more, in as many places as it
    // has indices of its longer dimensions.
    int64_t places = 1;
    bool longer = false;
    DimVector tile, indexed;
    for (int64_t d = 0; d < x_->shape().rank(); ++d) {
      const int64_t size = a_.slice_sizes[d];
      if (size == x_->shape().dim(d)) {
        tile.push_back(size);
      } else if (size == 1 && Names(d)) {
        indexed.push_back(size);
      } else if (!Contains(a_.start_index_map, d)) {
        return true;
      } else {
        places *= size;
        longer = true;
      }
    }
    if (!longer) return false;
    tile.insert(tile.begin(), indexed.begin(), indexed.end());
    return tile.size() < 2 || places * TilesOf(tile) > kMostTiles;
  }

  Instruction* Loop() {
    Builder b(i_->parent());
    b.set_metadata(i_->shared_metadata());
    const IndexVectors at(b, i_->operand(1), a_.index_vector_dim,
                          a_.start_index_map, a_.operand_batching_dims,
                          a_.start_indices_batching_dims);
    const DimVector& sizes = a_.slice_sizes;
    Instruction* windows = b.BroadcastScalar(b.Zero(x_->shape().type()),
                                             WithCount(at.count(), sizes));
    Instruction* loop = CounterLoop(
        b, "gather", {windows, x_, at.all()}, at.count(),
        [&](Builder& in, Instruction* n,
            const std::vector<Instruction*>& state) {
          const auto starts =
              at.Starts(in, at.At(in, state[2], n), x_->shape());
          Instruction* window = in.DynamicSlice(state[1], starts, sizes);
          window = in.Reshape(window, WithCount(1, sizes));
          std::vector<Instruction*> to(sizes.size() + 1,
                                       in.Zero(n->shape().type()));
          to[0] = n;
          return std::vector<Instruction*>{
              in.DynamicUpdateSlice(state[0], window, to), state[1], state[2]};
        });
    return Named(b, b.GetTupleElement(loop, 1), at.batch());
  }

 private:
  bool Names(int64_t d) const {
    return Contains(a_.start_index_map, d) ||
           Contains(a_.operand_batching_dims, d);
  }

  // Index dimensions stand where no offset dimension does.
  Instruction* Named(Builder& b, Instruction* windows, DimVector dims) const {
    const auto batch = static_cast<int64_t>(dims.size());
    for (int64_t d = 0; d < x_->shape().rank(); ++d) {
      if (!Contains(a_.collapsed_slice_dims, d) &&
          !Contains(a_.operand_batching_dims, d)) {
        dims.push_back(a_.slice_sizes[d]);
      }
    }
    DimVector order;
    int64_t index = 0, offset = batch;
    for (int64_t d = 0; d < i_->shape().rank(); ++d) {
      order.push_back(Contains(a_.offset_dims, d) ? offset++ : index++);
    }
    return b.Transpose(b.Reshape(windows, dims), order);
  }

  Instruction* i_;
  const GatherAttrs& a_;
  Instruction* x_;
};

class Scatter {
 public:
  explicit Scatter(Instruction* i)
      : i_(i),
        a_(i->attrs<ScatterAttrs>()),
        arrays_((i->operand_count() - 1) / 2),
        x_(i->operand(0)->shape()) {
    size_t window = 0;
    for (int64_t d = 0; d < x_.rank(); ++d) {
      const bool none = Contains(a_.inserted_window_dims, d) ||
                        Contains(a_.input_batching_dims, d);
      sizes_.push_back(none ? 1
                            : updates(0)->shape().dim(static_cast<int>(
                                  a_.update_window_dims[window++])));
    }
  }

  bool IsLoop() const {
    if (!CanApplyElementwise(*i_->to_apply())) return false;
    if (!IsOneOperationEach(*i_->to_apply(), arrays_)) return true;
    if (arrays_ == 1 && JoinsWords(*i_->to_apply(), x_)) return true;
    const Shape& indices = i_->operand(static_cast<int>(arrays_))->shape();
    if (arrays_ > 1 || CountOf(indices, a_.index_vector_dim) == 1) return false;
    for (int64_t d = 0; d < x_.rank(); ++d) {
      const bool indexed = Contains(a_.scatter_dims_to_operand_dims, d);
      const bool removed = Contains(a_.inserted_window_dims, d);
      if (Contains(a_.input_batching_dims, d)) continue;
      if (indexed != removed || (!removed && sizes_[d] != x_.dim(d))) {
        return true;
      }
    }
    return false;
  }

  Instruction* Loop() {
    Builder b(i_->parent());
    b.set_metadata(i_->shared_metadata());
    const IndexVectors at(b, i_->operand(static_cast<int>(arrays_)),
                          a_.index_vector_dim, a_.scatter_dims_to_operand_dims,
                          a_.input_batching_dims,
                          a_.scatter_indices_batching_dims);
    std::vector<Instruction*> state;
    for (int64_t k = 0; k < arrays_; ++k) {
      state.push_back(i_->operand(static_cast<int>(k)));
    }
    for (int64_t k = 0; k < arrays_; ++k) {
      state.push_back(Windows(b, updates(k), at.count()));
    }
    state.push_back(at.all());
    Instruction* loop = CounterLoop(
        b, "scatter", state, at.count(),
        [&](Builder& in, Instruction* n, const std::vector<Instruction*>& now) {
          return Step(in, n, now, at);
        });
    std::vector<Instruction*> results;
    for (int64_t k = 0; k < arrays_; ++k) {
      results.push_back(b.GetTupleElement(loop, static_cast<int>(k) + 1));
    }
    return arrays_ == 1 ? results[0] : b.Tuple(results);
  }

 private:
  Instruction* updates(int64_t k) const {
    return i_->operand(static_cast<int>(arrays_ + 1 + k));
  }

  // [count, sizes...]: the dimensions of the indices first.
  Instruction* Windows(Builder& b, Instruction* u, int64_t count) const {
    DimVector order;
    for (int64_t d = 0; d < u->shape().rank(); ++d) {
      if (!Contains(a_.update_window_dims, d)) order.push_back(d);
    }
    order.insert(order.end(), a_.update_window_dims.begin(),
                 a_.update_window_dims.end());
    return b.Reshape(b.Transpose(u, order), WithCount(count, sizes_));
  }

  std::vector<Instruction*> Step(Builder& b, Instruction* n,
                                 const std::vector<Instruction*>& state,
                                 const IndexVectors& at) const {
    Instruction* numbers = at.At(b, state.back(), n);
    Instruction* inside =
        b.BroadcastScalar(at.Inside(b, numbers, x_, sizes_), sizes_);
    const auto starts = at.Starts(b, numbers, x_);
    std::vector<Instruction*> values;  // of the body's parameters
    for (int64_t k = 0; k < arrays_; ++k) {
      values.push_back(b.DynamicSlice(state[k], starts, sizes_));
    }
    for (int64_t k = 0; k < arrays_; ++k) {
      values.push_back(WindowAt(b, state[arrays_ + k], n, sizes_));
    }
    const auto combined =
        ApplyElementwise(*i_->to_apply(), values, sizes_, b.computation());
    std::vector<Instruction*> next = state;
    for (int64_t k = 0; k < arrays_; ++k) {
      next[k] = b.DynamicUpdateSlice(
          state[k], b.Select(inside, combined[k], values[k]), starts);
    }
    return next;
  }

  Instruction* i_;
  const ScatterAttrs& a_;
  const int64_t arrays_;
  const Shape& x_;
  DimVector sizes_;  // of a window, by dimension of the operand
};

bool HasElements(const Instruction& i) {
  return std::all_of(
      i.operands().begin(), i.operands().end(),
      [](const Instruction* o) { return o->shape().ElementCount() > 0; });
}

Instruction* Expand(Instruction* i) {
  if (i->opcode() == Opcode::kGather && HasElements(*i)) {
    Gather gather(i);
    return gather.IsLoop() ? gather.Loop() : nullptr;
  }
  if (i->opcode() == Opcode::kScatter && HasElements(*i)) {
    Scatter scatter(i);
    return scatter.IsLoop() ? scatter.Loop() : nullptr;
  }
  return nullptr;
}

}  // namespace

absl::StatusOr<bool> WindowLoopsPass::Run(Module* module, const PassContext&) {
  return ExpandEach(module, Expand);
}

}  // namespace ptxla::hlo
