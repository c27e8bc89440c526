#include "base/status.h"
#include "hlo_backend/ir/element_types.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

// Floats may be written in another precision.
PrimitiveType WrittenPrecision(const Args& a, PrimitiveType inferred) {
  if (a.declared == nullptr || !IsFloat(inferred)) return inferred;
  const PrimitiveType written = a.declared->type();
  return IsFloat(written) ? written : inferred;
}

// Narrower floats may meet wider ones; the result is the wider.
PrimitiveType Wider(PrimitiveType a, PrimitiveType b) {
  return BitWidth(b) > BitWidth(a) ? b : a;
}

// The common shape of arrays with equal dimensions.
Result Merge(const Shape& x, const Shape& y) {
  RETURN_IF_ERROR(CheckArray(x, "an operand"));
  RETURN_IF_ERROR(CheckArray(y, "an operand"));
  bool same = x.rank() == y.rank();
  for (int i = 0; same && i < x.rank(); ++i) {
    same = SizesAgree(x.dim(i), y.dim(i));
  }
  if (!same)
    return Fail("operand shapes ", Text(x), " and ", Text(y), " differ");
  if (x.type() != y.type() && !(IsFloat(x.type()) && IsFloat(y.type()))) {
    return Fail("operand types differ: ", Text(x), " and ", Text(y));
  }
  Shape result = Like(x, Wider(x.type(), y.type()));
  for (int i = 0; i < x.rank(); ++i) {
    if (y.is_dynamic_dim(i)) result.set_dynamic_dim(i, true);
    if (x.dim(i) == Shape::kUnbounded) result.set_dim(i, y.dim(i));
  }
  return result;
}

Result Unary(const Args& a) {
  const Shape& x = a.operand(0);
  if (a.opcode == Opcode::kCopy) {
    Shape same = x;
    same.clear_layout();
    return same;
  }
  RETURN_IF_ERROR(CheckArray(x, "the operand"));
  const PrimitiveType t = x.type();
  RETURN_IF_ERROR(CheckElementType(a.opcode, x));
  switch (a.opcode) {
    case Opcode::kConvert: {
      ASSIGN_OR_RETURN(Shape to, Declared(a));
      if (!to.SameDims(x)) {
        return Fail("convert keeps dimensions: ", Text(x), " to ", Text(to));
      }
      return to;
    }
    case Opcode::kBitcastConvert: {
      ASSIGN_OR_RETURN(Shape to, Declared(a));
      RETURN_IF_ERROR(CheckArray(to, "the result"));
      if (IsComplex(t) != IsComplex(to.type())) {
        return Fail("bitcast-convert between real and complex: ", Text(x),
                    " to ", Text(to));
      }
      const int64_t from_bits = BitWidth(t), to_bits = BitWidth(to.type());
      DimVector want = x.dims();
      if (from_bits > to_bits) want.push_back(from_bits / to_bits);
      if (from_bits < to_bits) {
        if (want.empty() || want.back() != to_bits / from_bits) {
          return Fail("bitcast-convert of ", Text(x), " to ", Text(to));
        }
        want.pop_back();
      }
      if (want != to.dims()) {
        return Fail("bitcast-convert of ", Text(x), " to ", Text(to));
      }
      return to;
    }
    case Opcode::kAbs:
    case Opcode::kReal:
    case Opcode::kImag:
      return Like(x, ComplexComponent(t));
    case Opcode::kIsFinite:
      return Like(x, PrimitiveType::kPred);
    case Opcode::kReducePrecision: {
      const auto* attrs = a.attrs<ReducePrecisionAttrs>();
      if (attrs != nullptr &&
          (attrs->exponent_bits < 1 || attrs->mantissa_bits < 0)) {
        return Fail("exponent_bits=", attrs->exponent_bits, " is below 1, or ",
                    "mantissa_bits=", attrs->mantissa_bits, " below 0");
      }
      break;
    }
    default:
      break;
  }
  return Like(x, WrittenPrecision(a, t));
}

Result Binary(const Args& a) {
  if (a.opcode == Opcode::kStochasticConvert) {
    ASSIGN_OR_RETURN(Shape to, Declared(a));
    if (!to.SameDims(a.operand(0)) || !a.operand(1).SameDims(a.operand(0))) {
      return Fail("stochastic-convert keeps dimensions: ", Text(a.operand(0)),
                  " to ", Text(to));
    }
    const PrimitiveType bits = a.operand(1).type();
    if (!IsInteger(bits) || BitWidth(bits) != BitWidth(a.operand(0).type())) {
      return Fail("the random bits ", Text(a.operand(1)),
                  " are not integers as wide as ", Text(a.operand(0)));
    }
    return to;
  }
  ASSIGN_OR_RETURN(Shape shape, Merge(a.operand(0), a.operand(1)));
  const PrimitiveType t = shape.type();
  RETURN_IF_ERROR(CheckElementType(a.opcode, shape));
  switch (a.opcode) {
    case Opcode::kCompare:
      shape.set_type(PrimitiveType::kPred);
      return shape;
    case Opcode::kComplex:
      if (t != PrimitiveType::kF32 && t != PrimitiveType::kF64) {
        return Fail("complex takes f32 or f64, not ", PrimitiveTypeName(t));
      }
      shape.set_type(t == PrimitiveType::kF32 ? PrimitiveType::kC64
                                              : PrimitiveType::kC128);
      return shape;
    default:
      break;
  }
  shape.set_type(WrittenPrecision(a, t));
  return shape;
}

}  // namespace

Result Elementwise(const Args& a) {
  if (a.opcode == Opcode::kSelect) {
    const Shape& pred = a.operand(0);
    ASSIGN_OR_RETURN(Shape shape, Merge(a.operand(1), a.operand(2)));
    if (pred.type() != PrimitiveType::kPred ||
        !(pred.SameDims(shape) || pred.IsScalar())) {
      return Fail("select needs pred of the operands' dimensions, not ",
                  Text(pred), " for ", Text(shape));
    }
    shape.set_type(WrittenPrecision(a, shape.type()));
    return shape;
  }
  if (a.opcode == Opcode::kClamp) {
    const Shape& x = a.operand(1);
    RETURN_IF_ERROR(CheckArray(x, "the operand"));
    for (int i : {0, 2}) {
      const Shape& bound = a.operand(i);
      if (!(bound.IsScalar() || bound.SameDims(x)) ||
          (bound.type() != x.type() &&
           !(IsFloat(bound.type()) && IsFloat(x.type())))) {
        return Fail("clamp bound ", Text(bound), " does not fit ", Text(x));
      }
    }
    return Like(x, WrittenPrecision(a, x.type()));
  }
  return a.operand_count() == 1 ? Unary(a) : Binary(a);
}

}  // namespace ptxla::hlo::infer
