#include "hlo_backend/evaluator/dynamic_movement.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/dynamic_sizes.h"
#include "hlo_backend/evaluator/fill.h"
#include "hlo_backend/evaluator/value_parts.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

using Result = absl::StatusOr<Value>;

DimVector Origin(const Value& x) { return DimVector(x.shape().rank(), 0); }

// The elements that count, as an array of that size.
Value CountingPart(const Value& x) {
  return x.sizes() == nullptr ? x : PartOf(x, Origin(x), *x.sizes());
}

// `part` at the front of an array of this shape, zeros behind it.
Value AtTheFront(const Value& part, const ShapeRef& shape) {
  Value out = Value::NewArray(shape);
  PutPart(part, Origin(part), &out);
  return out.WithSizes(part.shape().dims());
}

// One array, or a tuple of arrays of one shape.
Value EachWithSizes(const Value& out, const DimVector& sizes) {
  if (!out.IsTuple()) return out.WithSizes(sizes);
  std::vector<Value> parts;
  for (const Value& part : out.elements()) {
    parts.push_back(part.WithSizes(sizes));
  }
  return Value::NewTuple(out.shape_ref(), std::move(parts));
}

Result Concatenate(const Instruction& i, absl::Span<Value> operands) {
  const int64_t d = i.dimensions()[0];
  Value out = Value::NewArray(ShapeOf(i));
  DimVector at = Origin(out), sizes = SizesOf(operands[0]);
  for (const Value& x : operands) {
    const DimVector own = SizesOf(x);
    for (size_t k = 0; k < sizes.size(); ++k) {
      if (static_cast<int64_t>(k) != d && own[k] != sizes[k]) {
        return absl::InvalidArgumentError(
            absl::StrCat("sizes ", own[k], " and ", sizes[k], " of dimension ",
                         k, " cannot be joined along dimension ", d));
      }
    }
    PutPart(CountingPart(x), at, &out);
    at[d] += own[d];
  }
  sizes[d] = at[d];
  return out.WithSizes(sizes);
}

Result Reverse(const Instruction& i, absl::Span<Value> operands,
               const StaticEvaluation& evaluate) {
  const DimVector sizes = SizesOf(operands[0]);
  ASSIGN_OR_RETURN(const Value all, evaluate(operands));
  DimVector starts = Origin(all);
  for (int64_t d : i.dimensions()) {
    starts[d] = all.shape().dim(static_cast<int>(d)) - sizes[d];
  }
  return AtTheFront(PartOf(all, starts, sizes), ShapeOf(i));
}

Result Sort(const Instruction& i, absl::Span<Value> operands,
            const StaticEvaluation& evaluate) {
  const DimVector sizes = SizesOf(operands[0]);
  for (Value& x : operands) {
    if (SizesOf(x) != sizes) {
      return absl::InvalidArgumentError("of arrays whose sizes differ");
    }
    x = CountingPart(x);
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  if (!out.IsTuple()) return AtTheFront(out, ShapeOf(i));
  std::vector<Value> parts;
  for (size_t k = 0; k < out.elements().size(); ++k) {
    parts.push_back(AtTheFront(out.elements()[k],
                               Hold(i.shape().element(static_cast<int>(k)))));
  }
  return Value::NewTuple(ShapeOf(i), std::move(parts));
}

Result Slice(const Instruction& i, absl::Span<Value> operands,
             const StaticEvaluation& evaluate) {
  const SliceAttrs& slice = i.attrs<SliceAttrs>();
  DimVector sizes = SizesOf(operands[0]);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int64_t limit = std::min(slice.limits[d], sizes[d]);
    const int64_t stride = slice.strides[d];
    sizes[d] =
        std::max<int64_t>(0, (limit - slice.starts[d] + stride - 1) / stride);
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

Result DynamicSlice(const Instruction& i, absl::Span<Value> operands,
                    const StaticEvaluation& evaluate) {
  DimVector sizes = i.shape().dims();
  const Value& x = operands[0];
  for (size_t d = 0; d < sizes.size(); ++d) {
    if (sizes[d] == x.shape().dim(static_cast<int>(d))) {
      sizes[d] = SizesOf(x)[d];
    }
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

// An update of a whole dimension brings its size.
Result DynamicUpdateSlice(absl::Span<Value> operands,
                          const StaticEvaluation& evaluate) {
  const DimVector update_sizes = SizesOf(operands[1]);
  DimVector sizes = SizesOf(operands[0]);
  for (size_t d = 0; d < sizes.size(); ++d) {
    const int dim = static_cast<int>(d);
    if (operands[1].shape().dim(dim) == operands[0].shape().dim(dim)) {
      sizes[d] = update_sizes[d];
    } else if (update_sizes[d] != operands[1].shape().dim(dim)) {
      return absl::UnimplementedError(
          "of an update whose size is below that of its place");
    }
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

Result Pad(const Instruction& i, absl::Span<Value> operands) {
  const auto& padding = i.attrs<PadAttrs>().dims;
  DimVector sizes = SizesOf(operands[0]);
  DimVector starts;
  for (size_t d = 0; d < sizes.size(); ++d) {
    const PaddingDim& p = padding[d];
    if (p.interior != 0 || p.low < 0 || p.high < 0) {
      return absl::UnimplementedError(
          "of an array of dynamic size, with padding inside or cut off");
    }
    starts.push_back(p.low);
    sizes[d] += p.low + p.high;
  }
  Value out = Value::NewArray(ShapeOf(i));
  Fill(out.Mutable(), operands[1].data(), out.element_bytes(), out.count());
  PutPart(CountingPart(operands[0]), starts, &out);
  return out.WithSizes(sizes);
}

// The sizes of the dimensions of indices but the one of components.
DimVector BatchSizes(const Value& indices, int64_t index_vector_dim) {
  DimVector sizes;
  const DimVector all = SizesOf(indices);
  for (size_t d = 0; d < all.size(); ++d) {
    if (static_cast<int64_t>(d) != index_vector_dim) sizes.push_back(all[d]);
  }
  return sizes;
}

Result Gather(const Instruction& i, absl::Span<Value> operands,
              const StaticEvaluation& evaluate) {
  const GatherAttrs& g = i.attrs<GatherAttrs>();
  const Value& x = operands[0];
  const DimVector batch = BatchSizes(operands[1], g.index_vector_dim);
  DimVector slice;
  for (int d = 0; d < x.shape().rank(); ++d) {
    if (Contains(g.collapsed_slice_dims, d) ||
        Contains(g.operand_batching_dims, d)) {
      continue;
    }
    const int64_t size = g.slice_sizes[d];
    slice.push_back(size == x.shape().dim(d) ? SizesOf(x)[d] : size);
  }
  DimVector sizes;
  size_t next_batch = 0, next_slice = 0;
  for (int d = 0; d < i.shape().rank(); ++d) {
    sizes.push_back(Contains(g.offset_dims, d) ? slice[next_slice++]
                                               : batch[next_batch++]);
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return out.WithSizes(sizes);
}

// Updates beyond the sizes are none, whether the indices say so or themselves.
Result Scatter(const Instruction& i, absl::Span<Value> operands,
               const StaticEvaluation& evaluate) {
  const ScatterAttrs& s = i.attrs<ScatterAttrs>();
  const size_t arrays = operands.size() / 2;
  const DimVector sizes = SizesOf(operands[0]);
  DimVector index_sizes = SizesOf(operands[arrays]);
  DimVector update_sizes = SizesOf(operands[arrays + 1]);
  size_t k = 0;
  for (size_t d = 0; d < update_sizes.size(); ++d) {
    if (Contains(s.update_window_dims, static_cast<int64_t>(d))) continue;
    if (static_cast<int64_t>(k) == s.index_vector_dim) ++k;
    update_sizes[d] = std::min(update_sizes[d], index_sizes[k]);
    index_sizes[k++] = update_sizes[d];
  }
  for (size_t j = arrays; j < operands.size(); ++j) {
    operands[j] = PartOf(operands[j], Origin(operands[j]),
                         j == arrays ? index_sizes : update_sizes);
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return EachWithSizes(out, sizes);
}

Result ReduceWindow(const Instruction& i, absl::Span<Value> operands,
                    const StaticEvaluation& evaluate) {
  const Window& window = i.attrs<WindowAttrs>().window;
  const size_t arrays = operands.size() / 2;
  const DimVector in = SizesOf(operands[0]);
  DimVector sizes;
  for (size_t d = 0; d < in.size(); ++d) {
    sizes.push_back(window.dims[d].OutputSize(in[d]));
  }
  for (size_t k = 0; k < arrays; ++k) {
    if (SizesOf(operands[k]) != in) {
      return absl::InvalidArgumentError("of arrays whose sizes differ");
    }
    operands[k] = FilledBeyondSizes(operands[k], operands[arrays + k].data());
  }
  ASSIGN_OR_RETURN(const Value out, evaluate(operands));
  return EachWithSizes(out, sizes);
}

}  // namespace

DimVector SizesOf(const Value& x) {
  return x.sizes() != nullptr ? *x.sizes() : x.shape().dims();
}

std::optional<Result> EvalDynamicMovement(const Instruction& i,
                                          absl::Span<Value> operands,
                                          const StaticEvaluation& evaluate) {
  switch (i.opcode()) {
    case Opcode::kConcatenate:
      return Concatenate(i, operands);
    case Opcode::kReverse:
      return Reverse(i, operands, evaluate);
    case Opcode::kSort:
      return Sort(i, operands, evaluate);
    case Opcode::kSlice:
      return Slice(i, operands, evaluate);
    case Opcode::kDynamicSlice:
      return DynamicSlice(i, operands, evaluate);
    case Opcode::kDynamicUpdateSlice:
      return DynamicUpdateSlice(operands, evaluate);
    case Opcode::kPad:
      return Pad(i, operands);
    case Opcode::kGather:
      return Gather(i, operands, evaluate);
    case Opcode::kScatter:
      return Scatter(i, operands, evaluate);
    case Opcode::kReduceWindow:
      return ReduceWindow(i, operands, evaluate);
    default:
      return std::nullopt;
  }
}

}  // namespace ptxla::hlo
