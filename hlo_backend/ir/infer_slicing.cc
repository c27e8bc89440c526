#include "base/status.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

Result Slice(const Shape& x, const SliceAttrs& s) {
  const int rank = x.rank();
  if (static_cast<int>(s.starts.size()) != rank ||
      static_cast<int>(s.limits.size()) != rank ||
      static_cast<int>(s.strides.size()) != rank) {
    return Fail("slice= has ", s.starts.size(), " ranges, the operand ",
                Text(x), " has ", rank, " dimensions");
  }
  Shape shape = Like(x, x.type());
  for (int i = 0; i < rank; ++i) {
    if (s.starts[i] < 0 || s.limits[i] < s.starts[i] || s.strides[i] < 1 ||
        (x.dim(i) != Shape::kUnbounded && s.limits[i] > x.dim(i))) {
      return Fail("slice [", s.starts[i], ":", s.limits[i], ":", s.strides[i],
                  "] does not fit dimension ", i, " of ", Text(x));
    }
    shape.set_dim(
        i, (s.limits[i] - s.starts[i] + s.strides[i] - 1) / s.strides[i]);
    // A static slice of a dynamic dimension is dynamic only if it takes all.
    if (shape.dim(i) != x.dim(i)) shape.set_dynamic_dim(i, false);
  }
  return shape;
}

// Start indices: one integer scalar per dimension, or one vector of them.
absl::Status CheckStarts(const Args& a, int first, int rank) {
  const int given = a.operand_count() - first;
  if (given == 1 && a.operand(first).rank() == 1) {
    if (a.operand(first).dim(0) == rank) return absl::OkStatus();
  } else if (given == rank) {
    for (int i = first; i < a.operand_count(); ++i) {
      if (!a.operand(i).IsScalar() || !IsInteger(a.operand(i).type())) {
        return Fail("start index ", i - first, " is ", Text(a.operand(i)),
                    ", not an integer scalar");
      }
    }
    return absl::OkStatus();
  }
  return Fail(OpcodeName(a.opcode), " needs ", rank, " start indices, has ",
              given);
}

Result DynamicSlice(const Args& a) {
  const Shape& x = a.operand(0);
  const DimVector& sizes = a.attrs<DynamicSliceAttrs>()->sizes;
  if (static_cast<int>(sizes.size()) != x.rank()) {
    return Fail("dynamic_slice_sizes= has ", sizes.size(),
                " entries, the operand ", Text(x), " has ", x.rank());
  }
  for (int i = 0; i < x.rank(); ++i) {
    if (sizes[i] < 0 || (x.dim(i) >= 0 && sizes[i] > x.dim(i))) {
      return Fail("slice size ", sizes[i], " exceeds dimension ", i, " of ",
                  Text(x));
    }
  }
  RETURN_IF_ERROR(CheckStarts(a, 1, x.rank()));
  return Shape::Array(x.type(), sizes);
}

Result DynamicUpdateSlice(const Args& a) {
  if (a.operand_count() < 2) return Fail("no update");
  const Shape &x = a.operand(0), &update = a.operand(1);
  bool fits = update.IsArray() && update.rank() == x.rank() &&
              (update.type() == x.type() ||
               (IsFloat(update.type()) && IsFloat(x.type())));
  for (int i = 0; fits && i < x.rank(); ++i) {
    fits = update.dim(i) <= x.dim(i) || x.dim(i) == Shape::kUnbounded;
  }
  if (!fits) {
    return Fail("update ", Text(update), " does not fit into ", Text(x));
  }
  RETURN_IF_ERROR(CheckStarts(a, 2, x.rank()));
  return Like(x, x.type());
}

Result Pad(const Args& a) {
  const Shape& x = a.operand(0);
  const PadAttrs& pad = *a.attrs<PadAttrs>();
  const PrimitiveType value = a.operand(1).type();
  if (!a.operand(1).IsScalar() ||
      (value != x.type() && !(IsFloat(value) && IsFloat(x.type())))) {
    return Fail("the padding value ", Text(a.operand(1)),
                " is not a scalar of the type of ", Text(x));
  }
  if (static_cast<int>(pad.dims.size()) != x.rank()) {
    return Fail("padding= has ", pad.dims.size(), " entries, the operand ",
                Text(x), " has ", x.rank(), " dimensions");
  }
  Shape shape = Like(x, PreferredType(a, x.type()));
  for (int i = 0; i < x.rank(); ++i) {
    const PaddingDim& p = pad.dims[i];
    if (p.interior < 0) return Fail("interior padding is negative");
    if (x.dim(i) == Shape::kUnbounded) continue;
    const int64_t inside = x.dim(i) == 0 ? 0 : (x.dim(i) - 1) * p.interior;
    const int64_t size = x.dim(i) + p.low + p.high + inside;
    if (size < 0) {
      return Fail("padding of dimension ", i, " of ", Text(x),
                  " leaves less than nothing");
    }
    shape.set_dim(i, size);
  }
  return shape;
}

}  // namespace

Result Slicing(const Args& a) {
  if (a.operand_count() == 0) return Fail("no operand");
  RETURN_IF_ERROR(CheckArray(a.operand(0), "the operand"));
  switch (a.opcode) {
    case Opcode::kSlice:
      return Slice(a.operand(0), *a.attrs<SliceAttrs>());
    case Opcode::kDynamicSlice:
      return DynamicSlice(a);
    case Opcode::kDynamicUpdateSlice:
      return DynamicUpdateSlice(a);
    default:
      return Pad(a);
  }
}

}  // namespace ptxla::hlo::infer
