#include "hlo_backend/passes/reduce_start.h"

#include <limits>
#include <optional>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/rewriter.h"

namespace ptxla::hlo {

bool StartIsNeutral(const Instruction& reduce) {
  const std::optional<Opcode> op = MonoidOf(*reduce.to_apply());
  if (!op.has_value()) return false;
  const Instruction& start = *reduce.operand(1);
  const double infinity = std::numeric_limits<double>::infinity();
  switch (*op) {
    case Opcode::kAdd:
    case Opcode::kOr:
    case Opcode::kXor:
      return IsAll(start, 0);
    case Opcode::kMultiply:
      return IsAll(start, 1);
    case Opcode::kMaximum:
      return IsFloat(start.shape().type()) && IsAll(start, -infinity);
    case Opcode::kMinimum:
      return IsFloat(start.shape().type()) && IsAll(start, infinity);
    case Opcode::kAnd:
      return start.shape().type() == PrimitiveType::kPred && IsAll(start, 1);
    default:
      return false;
  }
}

bool StartMayRepeat(const Instruction& reduce) {
  const std::optional<Opcode> op = MonoidOf(*reduce.to_apply());
  if (!op.has_value()) return false;
  switch (*op) {
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kAnd:
    case Opcode::kOr:
      return true;
    default:
      return StartIsNeutral(reduce);
  }
}

}  // namespace ptxla::hlo
