// stochastic-convert(x, random): x is rounded to one of its two neighbours in
// the result's type, away from zero if `random`, as a fraction of its range, is
// below the part of the gap that x has behind it. So the mean of many is x.
//
// To integers this is XLA's rule: the fraction is taken as a fixed-point number
// of as many bits as `random` has; too large values saturate, NaN gives 0. To
// floats (XLA's CPU backend has none) it is the same with the gap between two
// floats; what is beyond the largest one is rounded as `convert` does.
#include <cmath>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/operations.h"

namespace ptxla::hlo {
namespace {

// random < fraction, on the grid of 2^bits; fraction is in [0, 1).
bool RoundsUp(double fraction, uint64_t random, int bits) {
  return random < static_cast<uint64_t>(std::ldexp(fraction, bits));
}

// The word of the result, as XLA's decomposition gives it.
uint64_t ToInteger(double x, uint64_t random, int bits, PrimitiveType type) {
  if (x != x) return 0;
  const int magnitude_bits = BitWidth(type) - (IsUnsigned(type) ? 0 : 1);
  const uint64_t highest =
      magnitude_bits == 64 ? ~uint64_t{0} : (uint64_t{1} << magnitude_bits) - 1;
  const double limit = std::ldexp(1.0, magnitude_bits);
  if (x >= limit - 1) return highest;
  if (IsUnsigned(type) ? x <= 0 : x <= -limit) {
    return IsUnsigned(type) ? 0 : ~highest;
  }
  const double size = std::fabs(x);
  uint64_t whole = static_cast<uint64_t>(size);
  const double fraction = size - static_cast<double>(whole);
  if (fraction != 0 && RoundsUp(fraction, random, bits)) ++whole;
  return x < 0 ? 0 - whole : whole;
}

// The neighbours of x in a float type, by the codes of the type: the next code
// is the next magnitude.
class FloatGrid {
 public:
  static absl::StatusOr<FloatGrid> Create(PrimitiveType type) {
    FloatGrid grid;
    ASSIGN_OR_RETURN(grid.from_double_,
                     ElementwiseOp::CreateConvert(PrimitiveType::kF64, type));
    ASSIGN_OR_RETURN(grid.to_double_,
                     ElementwiseOp::CreateConvert(type, PrimitiveType::kF64));
    return grid;
  }

  uint64_t Convert(double x, uint64_t random, int bits) const {
    const double size = std::fabs(x);
    uint64_t code = Code(size);
    const double nearest = Number(code);
    if (nearest == size || nearest != nearest) return Code(x);
    if (nearest > size) --code;
    const double below = Number(code);
    const double above = Number(code + 1);
    // Beyond the largest number, or where codes are no magnitudes.
    if (!(below < size && size < above) || std::isinf(above)) return Code(x);
    const double fraction = (size - below) / (above - below);
    const double rounded = RoundsUp(fraction, random, bits) ? above : below;
    return Code(x < 0 ? -rounded : rounded);
  }

 private:
  uint64_t Code(double x) const {
    uint64_t code = 0;
    from_double_.Run({&x, nullptr, nullptr}, {false, true, true}, &code, 1);
    return code;
  }
  double Number(uint64_t code) const {
    double x = 0;
    to_double_.Run({&code, nullptr, nullptr}, {false, true, true}, &x, 1);
    return x;
  }

  ElementwiseOp from_double_, to_double_;
};

void StoreLow(uint64_t word, int bytes, uint8_t* to) {
  for (int k = 0; k < bytes; ++k) {
    to[k] = static_cast<uint8_t>(word >> (8 * k));
  }
}

}  // namespace

absl::StatusOr<Value> EvalStochasticConvert(OpContext&, const Instruction& i,
                                            absl::Span<Value> operands) {
  const PrimitiveType type = i.shape().type();
  if (!IsFloat(operands[0].type()) || !(IsFloat(type) || IsInteger(type))) {
    return absl::UnimplementedError(
        absl::StrCat("from ", PrimitiveTypeName(operands[0].type()), " to ",
                     PrimitiveTypeName(type)));
  }
  ASSIGN_OR_RETURN(const Value wide,
                   ConvertTo(operands[0].Dense(), PrimitiveType::kF64));
  const double* x = wide.as<double>();
  const Value& random = operands[1];
  const int bits = BitWidth(random.type());
  const uint64_t mask = bits == 64 ? ~uint64_t{0} : (uint64_t{1} << bits) - 1;
  Value out = Value::NewArray(ShapeOf(i));
  uint8_t* to = out.Mutable();
  const int bytes = out.element_bytes();
  FloatGrid grid;
  if (IsFloat(type)) {
    ASSIGN_OR_RETURN(grid, FloatGrid::Create(type));
  }
  for (int64_t k = 0; k < out.count(); ++k) {
    const uint64_t draw = static_cast<uint64_t>(random.Integer(k)) & mask;
    const uint64_t word = IsFloat(type) ? grid.Convert(x[k], draw, bits)
                                        : ToInteger(x[k], draw, bits, type);
    StoreLow(word, bytes, to + k * bytes);
  }
  return out;
}

}  // namespace ptxla::hlo
