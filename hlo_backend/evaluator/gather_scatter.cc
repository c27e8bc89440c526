#include <algorithm>
#include <cstring>

#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

// Reads the start vector of a window from an index array.
class IndexReader {
 public:
  IndexReader(const Value& indices, int64_t index_vector_dim)
      : indices_(indices), strides_(RowMajorStrides(indices.shape().dims())) {
    for (int d = 0; d < indices.shape().rank(); ++d) {
      if (d == index_vector_dim) continue;
      batch_dims_.push_back(indices.shape().dim(d));
      batch_strides_.push_back(strides_[d]);
    }
    component_stride_ = index_vector_dim < indices.shape().rank()
                            ? strides_[index_vector_dim]
                            : 0;
  }
  const DimVector& batch_dims() const { return batch_dims_; }
  int64_t Component(const DimVector& batch, int64_t k) const {
    const int64_t value =
        indices_.Integer(Dot(batch, batch_strides_) + k * component_stride_);
    // A u64 too large for int64 is out of bounds at the high end.
    return indices_.type() == PrimitiveType::kU64 && value < 0 ? INT64_MAX
                                                               : value;
  }

 private:
  const Value& indices_;
  DimVector strides_, batch_dims_, batch_strides_;
  int64_t component_stride_ = 0;
};

// Output (or update) dimensions that count windows, in order.
DimVector BatchDims(int rank, const DimVector& window_dims) {
  DimVector batch;
  for (int d = 0; d < rank; ++d) {
    if (!Contains(window_dims, d)) batch.push_back(d);
  }
  return batch;
}

// Position among the index array's batch dimensions of its dimension `d`.
int64_t BatchPosition(int64_t d, int64_t index_vector_dim) {
  return d > index_vector_dim ? d - 1 : d;
}

}  // namespace

absl::StatusOr<Value> EvalGather(OpContext&, const Instruction& i,
                                 absl::Span<Value> operands) {
  const GatherAttrs& g = i.attrs<GatherAttrs>();
  const Value& x = operands[0];
  if (x.IsSplat()) return Value::NewSplat(ShapeOf(i), x.data());
  const int rank = x.shape().rank();
  const IndexReader indices(operands[1], g.index_vector_dim);
  const DimVector in_strides = RowMajorStrides(x.shape().dims());
  const DimVector out_strides = RowMajorStrides(i.shape().dims());
  // The window, without the dimensions that are dropped.
  DimVector window;
  DimVector window_in;
  DimVector window_out;
  size_t next_offset = 0;
  for (int d = 0; d < rank; ++d) {
    if (Contains(g.collapsed_slice_dims, d) ||
        Contains(g.operand_batching_dims, d)) {
      continue;
    }
    window.push_back(g.slice_sizes[d]);
    window_in.push_back(in_strides[d]);
    window_out.push_back(out_strides[g.offset_dims[next_offset++]]);
  }
  const DimVector batch_dims = BatchDims(i.shape().rank(), g.offset_dims);
  Value out = Value::NewArray(ShapeOf(i));
  uint8_t* to = out.Mutable();
  const int bytes = x.element_bytes();
  for (Odometer o(indices.batch_dims()); !o.done(); o.Next()) {
    int64_t at_in = 0;
    for (size_t k = 0; k < g.start_index_map.size(); ++k) {
      const int64_t d = g.start_index_map[k];
      const int64_t limit =
          x.shape().dim(static_cast<int>(d)) - g.slice_sizes[d];
      const int64_t start = indices.Component(o.index(), k);
      at_in += std::max<int64_t>(0, std::min(start, limit)) * in_strides[d];
    }
    for (size_t k = 0; k < g.operand_batching_dims.size(); ++k) {
      at_in += o.index()[BatchPosition(g.start_indices_batching_dims[k],
                                       g.index_vector_dim)] *
               in_strides[g.operand_batching_dims[k]];
    }
    int64_t at_out = 0;
    for (size_t k = 0; k < batch_dims.size(); ++k) {
      at_out += o.index()[k] * out_strides[batch_dims[k]];
    }
    CopyBox(window, to + at_out * bytes, window_out, x.data() + at_in * bytes,
            window_in, bytes);
  }
  return out;
}

namespace {

// combine(target, update) over windows of several arrays at once.
class ScatterCombiner {
 public:
  ScatterCombiner(const ScalarProgram& program, std::vector<Value>* targets,
                  absl::Span<const Value> updates)
      : program_(program), updates_(updates) {
    for (Value& target : *targets) {
      outs_.push_back(target.Mutable());
      bytes_.push_back(target.element_bytes());
    }
  }

  // n elements with these strides from these places, in elements.
  void Apply(int64_t at_target, int64_t target_stride, int64_t at_update,
             int64_t update_stride, int64_t n) {
    const bool together = target_stride == 1 && update_stride == 1;
    const int64_t step = together ? n : 1;
    const size_t arrays = outs_.size();
    for (int64_t k = 0; k < n; k += step) {
      in_.clear();
      out_.clear();
      splat_.assign(2 * arrays, false);
      for (size_t j = 0; j < arrays; ++j) {
        out_.push_back(outs_[j] + (at_target + k * target_stride) * bytes_[j]);
        in_.push_back(out_[j]);
      }
      for (size_t j = 0; j < arrays; ++j) {
        in_.push_back(updates_[j].data() +
                      (at_update + k * update_stride) * bytes_[j]);
      }
      if (program_.is_second() && arrays == 1) {
        std::memcpy(out_[0], in_[1], step * bytes_[0]);
      } else {
        program_.Run(in_, splat_, out_, step);
      }
    }
  }

 private:
  const ScalarProgram& program_;
  absl::Span<const Value> updates_;
  std::vector<uint8_t*> outs_;
  std::vector<int> bytes_;
  std::vector<const void*> in_;
  std::vector<void*> out_;
  absl::InlinedVector<bool, 8> splat_;
};

}  // namespace

absl::StatusOr<Value> EvalScatter(OpContext& context, const Instruction& i,
                                  absl::Span<Value> operands) {
  const ScatterAttrs& s = i.attrs<ScatterAttrs>();
  const size_t arrays = (operands.size() - 1) / 2;
  ASSIGN_OR_RETURN(const ScalarProgram* program,
                   context.Program(*i.to_apply()));
  std::vector<Value> targets;
  std::vector<Value> updates;
  for (size_t j = 0; j < arrays; ++j) {
    targets.push_back(std::move(operands[j]));
    updates.push_back(operands[arrays + 1 + j].Dense());
  }
  const Value& index_array = operands[arrays];
  const IndexReader indices(index_array, s.index_vector_dim);
  const Shape& target_shape = targets[0].shape();
  const Shape& update_shape = updates[0].shape();
  const DimVector target_strides = RowMajorStrides(target_shape.dims());
  const DimVector update_strides = RowMajorStrides(update_shape.dims());
  // The window of one update, without the dimensions it does not have.
  DimVector window;
  DimVector window_target;
  DimVector window_update;
  DimVector extent(target_shape.rank(), 1);  // of the window in the target
  size_t next = 0;
  for (int d = 0; d < target_shape.rank(); ++d) {
    if (Contains(s.inserted_window_dims, d) ||
        Contains(s.input_batching_dims, d)) {
      continue;
    }
    const int64_t from = s.update_window_dims[next++];
    window.push_back(update_shape.dim(static_cast<int>(from)));
    extent[d] = window.back();
    window_target.push_back(target_strides[d]);
    window_update.push_back(update_strides[from]);
  }
  if (window.empty()) {
    window = {1};
    window_target = {1};
    window_update = {1};
  }
  const DimVector batch_dims =
      BatchDims(update_shape.rank(), s.update_window_dims);
  ScatterCombiner combiner(*program, &targets, updates);
  const DimVector outer(window.begin(), window.end() - 1);
  for (Odometer o(indices.batch_dims()); !o.done(); o.Next()) {
    // A window that is not wholly inside is left out.
    int64_t at_target = 0;
    bool inside = true;
    for (size_t k = 0; k < s.scatter_dims_to_operand_dims.size(); ++k) {
      const int64_t d = s.scatter_dims_to_operand_dims[k];
      const int64_t start = indices.Component(o.index(), k);
      inside = inside && start >= 0 &&
               start <= target_shape.dim(static_cast<int>(d)) - extent[d];
      if (inside) at_target += start * target_strides[d];
    }
    if (!inside) continue;
    for (size_t k = 0; k < s.input_batching_dims.size(); ++k) {
      at_target += o.index()[BatchPosition(s.scatter_indices_batching_dims[k],
                                           s.index_vector_dim)] *
                   target_strides[s.input_batching_dims[k]];
    }
    int64_t at_update = 0;
    for (size_t k = 0; k < batch_dims.size(); ++k) {
      at_update += o.index()[k] * update_strides[batch_dims[k]];
    }
    for (Odometer w(outer); !w.done(); w.Next()) {
      int64_t target = at_target;
      int64_t update = at_update;
      for (size_t k = 0; k < outer.size(); ++k) {
        target += w.index()[k] * window_target[k];
        update += w.index()[k] * window_update[k];
      }
      combiner.Apply(target, window_target.back(), update, window_update.back(),
                     window.back());
    }
  }
  if (arrays == 1) return targets[0].WithShape(ShapeOf(i));
  return Value::NewTuple(ShapeOf(i), std::move(targets));
}

}  // namespace ptxla::hlo
