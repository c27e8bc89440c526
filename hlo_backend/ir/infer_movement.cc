#include "base/status.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

Result Broadcast(const Args& a, const DimVector& dims) {
  const Shape& x = a.operand(0);
  ASSIGN_OR_RETURN(Shape to, Declared(a));
  RETURN_IF_ERROR(CheckArray(to, "the result"));
  if (static_cast<int>(dims.size()) != x.rank()) {
    return Fail("dimensions= has ", dims.size(), " entries, the operand ",
                Text(x), " has ", x.rank(), " dimensions");
  }
  RETURN_IF_ERROR(CheckDims("dimensions=", dims, to.rank()));
  for (int i = 0; i < x.rank(); ++i) {
    if (!SizesAgree(x.dim(i), to.dim(static_cast<int>(dims[i])))) {
      return Fail("operand dimension ", i, " of ", Text(x),
                  " does not fit dimension ", dims[i], " of ", Text(to));
    }
  }
  if (x.type() != to.type() && !(IsFloat(x.type()) && IsFloat(to.type()))) {
    return Fail("broadcast keeps the type: ", Text(x), " to ", Text(to));
  }
  return to;
}

Result Transpose(const Shape& x, const DimVector& permutation) {
  if (static_cast<int>(permutation.size()) != x.rank()) {
    return Fail("dimensions= is no permutation of ", x.rank(), " dimensions");
  }
  RETURN_IF_ERROR(CheckDims("dimensions=", permutation, x.rank()));
  Shape shape = Shape::Array(x.type(), {});
  for (int i = 0; i < x.rank(); ++i) {
    const int from = static_cast<int>(permutation[i]);
    shape.add_dim(x.dim(from));
    if (x.is_dynamic_dim(from)) shape.set_dynamic_dim(i, true);
  }
  return shape;
}

Result Concatenate(const Args& a, const DimVector& dims) {
  if (a.operand_count() == 0) return Fail("concatenate needs an operand");
  if (dims.size() != 1) return Fail("concatenate takes one dimension");
  const int d = static_cast<int>(dims[0]);
  Shape shape = Like(a.operand(0), a.operand(0).type());
  RETURN_IF_ERROR(CheckDims("dimensions=", dims, shape.rank()));
  for (int n = 1; n < a.operand_count(); ++n) {
    const Shape& x = a.operand(n);
    bool fits = x.rank() == shape.rank() &&
                (x.type() == shape.type() ||
                 (IsFloat(x.type()) && IsFloat(shape.type())));
    for (int i = 0; fits && i < x.rank(); ++i) {
      fits = i == d || SizesAgree(x.dim(i), shape.dim(i));
    }
    if (!fits) {
      return Fail("operand ", n, " ", Text(x), " does not fit operand 0 ",
                  Text(a.operand(0)), " along dimension ", d);
    }
    if (x.dim(d) == Shape::kUnbounded || shape.dim(d) == Shape::kUnbounded) {
      shape.set_dim(d, Shape::kUnbounded);
    } else {
      shape.set_dim(d, shape.dim(d) + x.dim(d));
    }
    for (int i = 0; i < x.rank(); ++i) {
      if (x.is_dynamic_dim(i)) shape.set_dynamic_dim(i, true);
    }
  }
  return shape;
}

Result Reshape(const Args& a) {
  const Shape& x = a.operand(0);
  ASSIGN_OR_RETURN(Shape to, Declared(a));
  RETURN_IF_ERROR(CheckArray(x, "the operand"));
  RETURN_IF_ERROR(CheckArray(to, "the result"));
  for (int i = 1; i < a.operand_count(); ++i) {
    if (!a.operand(i).IsScalar() ||
        a.operand(i).type() != PrimitiveType::kS32) {
      return Fail("the size of dimension ", i - 1, " is ", Text(a.operand(i)),
                  ", not s32[]");
    }
  }
  if (a.opcode == Opcode::kDynamicReshape &&
      a.operand_count() != to.rank() + 1) {
    return Fail(a.operand_count() - 1, " sizes for the ", to.rank(),
                " dimensions of ", Text(to));
  }
  if (x.HasUnboundedDims() || to.HasUnboundedDims()) return to;
  if (x.ElementCount() != to.ElementCount()) {
    return Fail("reshape of ", Text(x), " (", x.ElementCount(),
                " elements) to ", Text(to), " (", to.ElementCount(), ")");
  }
  // TPU compilers write a conversion between floats into a reshape.
  if (x.type() != to.type() && !(IsFloat(x.type()) && IsFloat(to.type()))) {
    return Fail("reshape keeps the type: ", Text(x), " to ", Text(to));
  }
  return to;
}

// The same bytes, as another array. Padding of tiles may become elements.
Result Bitcast(const Args& a) {
  ASSIGN_OR_RETURN(Shape to, Declared(a));
  const Shape& x = a.operand(0);
  const auto is_plain = [](const Shape& s) {
    return s.IsArray() && !s.HasDynamicDims() &&
           (!s.has_layout() || s.layout().tiles.empty());
  };
  if (!is_plain(x) || !is_plain(to)) return to;
  const int64_t from_bits = x.ElementCount() * BitWidth(x.type());
  const int64_t to_bits = to.ElementCount() * BitWidth(to.type());
  if (from_bits != to_bits) {
    return Fail("bitcast of ", Text(x), " (", from_bits, " bits) to ", Text(to),
                " (", to_bits, ")");
  }
  return to;
}

}  // namespace

Result Movement(const Args& a) {
  if (a.operand_count() == 0) return Fail("no operand");
  const Shape& x = a.operand(0);
  if (a.opcode == Opcode::kBitcast) return Bitcast(a);
  RETURN_IF_ERROR(CheckArray(x, "the operand"));
  if (a.opcode == Opcode::kReshape || a.opcode == Opcode::kDynamicReshape) {
    return Reshape(a);
  }
  const auto* attrs = a.attrs<DimensionsAttrs>();
  if (attrs == nullptr) return Fail("dimensions= is missing");
  const DimVector& dims = attrs->dimensions;
  switch (a.opcode) {
    case Opcode::kBroadcast:
      return Broadcast(a, dims);
    case Opcode::kTranspose:
      return Transpose(x, dims);
    case Opcode::kConcatenate:
      return Concatenate(a, dims);
    case Opcode::kReverse:
      RETURN_IF_ERROR(CheckDims("dimensions=", dims, x.rank()));
      return Like(x, x.type());
    default:
      break;
  }
  // get-dimension-size, set-dimension-size.
  if (dims.size() != 1) return Fail("dimensions= takes one dimension");
  RETURN_IF_ERROR(CheckDims("dimensions=", dims, x.rank()));
  if (a.opcode == Opcode::kGetDimensionSize) {
    return Shape::Scalar(PrimitiveType::kS32);
  }
  if (!a.operand(1).IsScalar() || a.operand(1).type() != PrimitiveType::kS32) {
    return Fail("the size is ", Text(a.operand(1)), ", not s32[]");
  }
  Shape shape = Like(x, x.type());
  shape.set_dynamic_dim(static_cast<int>(dims[0]), true);
  // A size that is known to be the bound leaves the dimension static.
  if (a.declared != nullptr && a.declared->SameDimsAndType(shape)) {
    return *a.declared;
  }
  return shape;
}

}  // namespace ptxla::hlo::infer
