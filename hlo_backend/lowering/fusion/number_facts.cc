#include "hlo_backend/lowering/fusion/number_facts.h"

#include <algorithm>
#include <cmath>
#include <optional>

namespace ptxla::lowering {
namespace {

using hlo::Instruction;

// The value of all elements.
std::optional<double> ConstantOf(const Instruction& value) {
  if (value.opcode() == hlo::Opcode::kBroadcast)
    return ConstantOf(*value.operand(0));
  if (value.opcode() != hlo::Opcode::kConstant ||
      !value.literal().IsUniform() || !hlo::IsFloat(value.shape().type())) {
    return std::nullopt;
  }
  const double number = value.literal().GetDouble(0);
  if (std::isnan(number)) return std::nullopt;
  return number;
}

bool IsWhole(const Instruction& value) {
  const std::optional<double> number = ConstantOf(value);
  return number && *number == std::floor(*number);
}

}  // namespace

Bounds BoundsOf(const Instruction& value) {
  switch (value.opcode()) {
    case hlo::Opcode::kClamp: {
      const std::optional<double> low = ConstantOf(*value.operand(0));
      const std::optional<double> high = ConstantOf(*value.operand(2));
      if (!low || !high || *low > *high) return {};
      return {*low, *high};
    }
    case hlo::Opcode::kMaximum:
    case hlo::Opcode::kMinimum: {
      for (const int k : {0, 1}) {
        const std::optional<double> bound = ConstantOf(*value.operand(k));
        if (!bound) continue;
        Bounds bounds = BoundsOf(*value.operand(1 - k));
        double& nearer =
            value.opcode() == hlo::Opcode::kMaximum ? bounds.low : bounds.high;
        const bool is_maximum = value.opcode() == hlo::Opcode::kMaximum;
        nearer =
            is_maximum ? std::max(nearer, *bound) : std::min(nearer, *bound);
        if (bounds.low > bounds.high) return {*bound, *bound};
        return bounds;
      }
      return {};
    }
    case hlo::Opcode::kRoundNearestEven: {
      const Bounds bounds = BoundsOf(*value.operand(0));
      return {std::nearbyint(bounds.low), std::nearbyint(bounds.high)};
    }
    default:
      return {};
  }
}

bool IsCutOff(const Instruction& value) {
  return value.opcode() == hlo::Opcode::kFloor ||
         value.opcode() == hlo::Opcode::kCeil;
}

int BoundedOperand(const Instruction& value) {
  switch (value.opcode()) {
    case hlo::Opcode::kClamp:
      return IsWhole(*value.operand(0)) && IsWhole(*value.operand(2)) ? 1 : -1;
    case hlo::Opcode::kMaximum:
    case hlo::Opcode::kMinimum:
      if (IsWhole(*value.operand(0))) return 1;
      return IsWhole(*value.operand(1)) ? 0 : -1;
    default:
      return -1;
  }
}

bool SaturatesToByte(const Instruction& value) {
  const hlo::PrimitiveType type = value.shape().type();
  return value.opcode() == hlo::Opcode::kConvert && hlo::IsInteger(type) &&
         hlo::BitWidth(type) <= 8 &&
         hlo::IsFloat(value.operand(0)->shape().type());
}

}  // namespace ptxla::lowering
