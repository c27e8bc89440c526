#include "hlo_backend/passes/simplify/fold_element.h"

#include <cmath>
#include <optional>

namespace ptxla::hlo {
namespace {

std::optional<double> Float(Opcode op, double a, double b) {
  switch (op) {
    case Opcode::kAdd:
      return a + b;
    case Opcode::kSubtract:
      return a - b;
    case Opcode::kMultiply:
      return a * b;
    case Opcode::kDivide:
      return a / b;
    case Opcode::kMaximum:
      return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmax(a, b);
    case Opcode::kMinimum:
      return std::isnan(a) || std::isnan(b) ? std::nan("") : std::fmin(a, b);
    case Opcode::kNegate:
      return -a;
    case Opcode::kAbs:
      return std::fabs(a);
    case Opcode::kFloor:
      return std::floor(a);
    case Opcode::kCeil:
      return std::ceil(a);
    default:
      return {};
  }
}

// Two's complement of the type's width; the caller truncates by SetInt.
std::optional<int64_t> Integer(Opcode op, int64_t a, int64_t b,
                               PrimitiveType type) {
  const uint64_t ua = static_cast<uint64_t>(a), ub = static_cast<uint64_t>(b);
  const int bits = BitWidth(type);
  const uint64_t mask = bits == 64 ? ~0ull : (1ull << bits) - 1;
  const bool is_signed = IsSigned(type);
  switch (op) {
    case Opcode::kAdd:
      return static_cast<int64_t>(ua + ub);
    case Opcode::kSubtract:
      return static_cast<int64_t>(ua - ub);
    case Opcode::kMultiply:
      return static_cast<int64_t>(ua * ub);
    case Opcode::kDivide:
    case Opcode::kRemainder: {
      if (b == 0 || (is_signed && b == -1)) return {};
      const bool divide = op == Opcode::kDivide;
      if (is_signed) return divide ? a / b : a % b;
      return static_cast<int64_t>(divide ? ua / ub : ua % ub);
    }
    case Opcode::kMaximum:
      return is_signed ? std::max(a, b)
                       : static_cast<int64_t>(std::max(ua, ub));
    case Opcode::kMinimum:
      return is_signed ? std::min(a, b)
                       : static_cast<int64_t>(std::min(ua, ub));
    case Opcode::kAnd:
      return a & b;
    case Opcode::kOr:
      return a | b;
    case Opcode::kXor:
      return a ^ b;
    case Opcode::kNot:
      return type == PrimitiveType::kPred ? !a : ~a;
    case Opcode::kNegate:
      return static_cast<int64_t>(-ua);
    case Opcode::kShiftLeft:
      return ub >= static_cast<uint64_t>(bits) ? 0
                                               : static_cast<int64_t>(ua << ub);
    case Opcode::kShiftRightLogical:
      return ub >= static_cast<uint64_t>(bits)
                 ? 0
                 : static_cast<int64_t>((ua & mask) >> ub);
    case Opcode::kShiftRightArithmetic: {
      // The top bit is what moves in, also of unsigned numbers.
      const int above = 64 - bits;
      return (static_cast<int64_t>(ua << above) >> above) >>
             std::min<uint64_t>(ub, 63);
    }
    default:
      return {};
  }
}

template <class T>
bool Holds(CompareDirection direction, T a, T b) {
  switch (direction) {
    case CompareDirection::kEq:
      return a == b;
    case CompareDirection::kNe:
      return a != b;
    case CompareDirection::kGe:
      return a >= b;
    case CompareDirection::kGt:
      return a > b;
    case CompareDirection::kLe:
      return a <= b;
    case CompareDirection::kLt:
      return a < b;
  }
  return false;
}

bool FoldCompare(const Instruction& i, const Literal& a, int64_t ea,
                 const Literal& b, int64_t eb, int64_t e, Literal* result) {
  const CompareAttrs& attrs = i.attrs<CompareAttrs>();
  const PrimitiveType type = a.shape().type();
  bool holds;
  if (IsFloat(type)) {
    if (attrs.type == CompareType::kTotalOrder) return false;
    holds = Holds(attrs.direction, a.GetDouble(ea), b.GetDouble(eb));
  } else if (IsSigned(type)) {
    holds = Holds(attrs.direction, a.GetInt(ea), b.GetInt(eb));
  } else {
    holds = Holds(attrs.direction, static_cast<uint64_t>(a.GetInt(ea)),
                  static_cast<uint64_t>(b.GetInt(eb)));
  }
  result->SetInt(e, holds);
  return true;
}

// Towards zero; the nearest integer of the type where it does not fit, 0 for
// what is no number.
int64_t Saturated(double value, PrimitiveType type) {
  if (std::isnan(value)) return 0;
  const bool is_signed = IsSigned(type);
  const int bits = BitWidth(type) - (is_signed ? 1 : 0);
  const double beyond = std::ldexp(1, bits);
  const uint64_t last = bits == 0 ? 0 : ~uint64_t{0} >> (64 - bits);
  if (value >= beyond) return static_cast<int64_t>(last);
  if (!is_signed) {
    return value <= 0 ? 0 : static_cast<int64_t>(static_cast<uint64_t>(value));
  }
  return value <= -beyond ? static_cast<int64_t>(~last)
                          : static_cast<int64_t>(value);
}

bool FoldConvert(const Literal& a, int64_t ea, int64_t e, Literal* result) {
  const PrimitiveType from = a.shape().type(), to = result->shape().type();
  if (to == PrimitiveType::kPred) {
    result->SetInt(e, IsFloat(from) ? a.GetDouble(ea) != 0 : a.GetInt(ea) != 0);
  } else if (IsFloat(from)) {
    const double value = a.GetDouble(ea);
    if (IsFloat(to)) {
      result->SetDouble(e, value);
    } else {
      result->SetInt(e, Saturated(value, to));
    }
  } else if (IsFloat(to)) {
    const int64_t value = a.GetInt(ea);
    if (from == PrimitiveType::kU64 && value < 0) return false;
    // Through double: exact below 2^53 only.
    if (std::llabs(value) > (int64_t{1} << 53)) return false;
    result->SetDouble(e, static_cast<double>(value));
  } else {
    result->SetInt(e, a.GetInt(ea));
  }
  return true;
}

void CopyElement(const Literal& from, int64_t at, int64_t e, Literal* result) {
  std::memcpy(result->mutable_bytes().data() + e * from.element_bytes(),
              from.element(at), from.element_bytes());
}

}  // namespace

bool FoldElement(const Instruction& i,
                 const std::vector<const Literal*>& operands, int64_t e,
                 Literal* result) {
  auto at = [&](int k) {
    return operands[k]->shape().IsScalar() ? int64_t{0} : e;
  };
  const PrimitiveType type = i.shape().type();
  switch (i.opcode()) {
    case Opcode::kConvert:
      return FoldConvert(*operands[0], at(0), e, result);
    case Opcode::kCompare:
      return FoldCompare(i, *operands[0], at(0), *operands[1], at(1), e,
                         result);
    case Opcode::kSelect: {
      const int k = operands[0]->GetInt(at(0)) != 0 ? 1 : 2;
      CopyElement(*operands[k], at(k), e, result);
      return true;
    }
    default:
      break;
  }
  const bool two = operands.size() == 2;
  if (operands.size() > 2) return false;
  if (IsFloat(type)) {
    if (!IsFloat(operands[0]->shape().type())) return false;
    const auto value = Float(i.opcode(), operands[0]->GetDouble(at(0)),
                             two ? operands[1]->GetDouble(at(1)) : 0);
    if (!value.has_value()) return false;
    result->SetDouble(e, *value);
    return true;
  }
  if (!IsInteger(type) && type != PrimitiveType::kPred) return false;
  if (operands[0]->shape().type() != type) return false;
  const auto value = Integer(i.opcode(), operands[0]->GetInt(at(0)),
                             two ? operands[1]->GetInt(at(1)) : 0, type);
  if (!value.has_value()) return false;
  result->SetInt(e, *value);
  return true;
}

}  // namespace ptxla::hlo
