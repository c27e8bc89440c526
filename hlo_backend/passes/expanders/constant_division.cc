#include "hlo_backend/passes/expanders/constant_division.h"

#include <optional>

namespace ptxla::hlo {
namespace {

bool IsPowerOfTwo(uint32_t d) { return (d & (d - 1)) == 0; }

// Logarithm, rounded up.
int CeilLog2(uint32_t d) { return d <= 1 ? 0 : 32 - __builtin_clz(d - 1); }

// x / d = (multiplier * x) >> (32 + shift) for every word x; the multiplier's
// 33rd bit does not fit into a word.
struct Reciprocal {
  uint32_t multiplier = 0;
  int shift = 0;
  bool has_bit_32 = false;
};

Reciprocal ReciprocalOf(uint32_t d) {
  const int bits = CeilLog2(d);
  // One bit less is enough if what rounding adds stays small.
  for (int shift = bits - 1; shift <= bits; ++shift) {
    const unsigned __int128 whole = static_cast<unsigned __int128>(1)
                                    << (32 + shift);
    const unsigned __int128 m = (whole + d - 1) / d;
    const bool exact =
        m * d - whole <= (static_cast<unsigned __int128>(1) << shift);
    if (!exact) continue;
    return {static_cast<uint32_t>(m), shift, (m >> 32) != 0};
  }
  return {};
}

class Divider {
 public:
  Divider(Builder* b, Instruction* x) : b_(*b), x_(*x) {}

  Instruction* Signed(int64_t d, bool remainder) {
    Instruction* is_negative =
        b_.Compare(&x_, Number(0), CompareDirection::kLt);
    const auto turned = [&](Instruction* v) {
      return b_.Select(is_negative, b_.Negate(v), v);
    };
    const uint32_t size = static_cast<uint32_t>(d < 0 ? -d : d);
    Instruction* result = Words(turned(&x_), size, remainder);
    if (remainder || d > 0) return turned(result);
    return b_.Select(is_negative, result, b_.Negate(result));
  }

  // Of words without sign, whatever their type.
  Instruction* Words(Instruction* x, uint32_t d, bool remainder) {
    if (IsPowerOfTwo(d)) {
      return remainder ? b_.And(x, Number(d - 1)) : Shift(x, CeilLog2(d));
    }
    Instruction* quotient = Quotient(x, ReciprocalOf(d));
    if (!remainder) return quotient;
    return b_.Subtract(x, b_.Multiply(quotient, Number(d)));
  }

 private:
  Instruction* Number(int64_t value) {
    Literal literal(Shape::Scalar(x_.shape().type()));
    literal.SetInt(0, value);
    Instruction* c = b_.Constant(std::move(literal));
    return x_.shape().IsScalar() ? c : b_.BroadcastScalar(c, x_.shape().dims());
  }
  Instruction* Shift(Instruction* x, int by) {
    return by == 0 ? x : b_.ShiftRightLogical(x, Number(by));
  }

  // The upper word of x times m.
  Instruction* Upper(Instruction* x, uint32_t m) {
    const Shape word = Shape::Array(PrimitiveType::kU32, x->shape().dims());
    const auto as = [&](Instruction* v, const Shape& shape) {
      return v->shape().type() == shape.type() ? v
                                               : b_.BitcastConvert(v, shape);
    };
    return as(b_.Binary(Opcode::kMulhi, as(x, word), as(Number(m), word)),
              x->shape());
  }

  Instruction* Quotient(Instruction* x, const Reciprocal& r) {
    Instruction* upper = Upper(x, r.multiplier);
    if (!r.has_bit_32) return Shift(upper, r.shift);
    // (upper + x) >> shift, whose sum may need 33 bits.
    Instruction* half = Shift(b_.Subtract(x, upper), 1);
    return Shift(b_.Add(half, upper), r.shift - 1);
  }

  Builder& b_;
  Instruction& x_;
};

std::optional<int64_t> ConstantOf(const Instruction* y) {
  if (y->opcode() == Opcode::kBroadcast && y->operand(0)->shape().IsScalar()) {
    y = y->operand(0);
  }
  if (y->opcode() != Opcode::kConstant || !y->shape().IsScalar()) return {};
  return y->literal().GetInt(0);
}

}  // namespace

Instruction* DivideByConstant(Builder* b, Instruction* x, const Instruction* y,
                              bool remainder) {
  const std::optional<int64_t> d = ConstantOf(y);
  if (!d.has_value() || *d == 0) return nullptr;
  Divider divider(b, x);
  if (IsSigned(x->shape().type())) return divider.Signed(*d, remainder);
  return divider.Words(x, static_cast<uint32_t>(*d), remainder);
}

}  // namespace ptxla::hlo
