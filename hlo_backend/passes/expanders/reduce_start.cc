#include "hlo_backend/passes/expanders/reduce_start.h"

#include <limits>
#include <optional>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/passes/rewriter.h"

namespace ptxla::hlo {
namespace {

// The lowest (sign -1) or highest (1) value of its type.
bool IsExtreme(const Instruction& start, int sign) {
  const double infinity = sign * std::numeric_limits<double>::infinity();
  const PrimitiveType type = start.shape().type();
  if (IsFloat(type)) return IsAll(start, infinity);
  if (type == PrimitiveType::kPred) return IsAll(start, sign > 0);
  const Literal* value = ScalarConstantOf(start);
  return value != nullptr && IsInteger(type) &&
         value->GetInt(0) ==
             Literal::Splat(Shape::Array(type, {}), infinity).GetInt(0);
}

}  // namespace

bool StartIsNeutral(const Instruction& reduce) {
  const std::optional<Opcode> op = MonoidOf(*reduce.to_apply());
  if (!op.has_value()) return false;
  const Instruction& start = *reduce.operand(1);
  switch (*op) {
    case Opcode::kAdd:
    case Opcode::kOr:
    case Opcode::kXor:
      return IsAll(start, 0);
    case Opcode::kMultiply:
      return IsAll(start, 1);
    case Opcode::kMaximum:
      return IsExtreme(start, -1);
    case Opcode::kMinimum:
      return IsExtreme(start, 1);
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

Instruction* NeutralStart(Opcode op, PrimitiveType type, Builder& b) {
  switch (op) {
    case Opcode::kMultiply:
      return b.One(type);
    case Opcode::kMaximum:
      return b.MinValue(type);
    case Opcode::kMinimum:
      return b.MaxValue(type);
    case Opcode::kAnd:
      return type == PrimitiveType::kPred ? b.One(type) : b.Not(b.Zero(type));
    default:
      return b.Zero(type);
  }
}

Computation* MonoidBody(Opcode op, PrimitiveType type, Module* module) {
  Builder body(module->AddComputation("wide"));
  Instruction* x = body.Parameter(0, Shape::Array(type, {}));
  body.Binary(op, x, body.Parameter(1, Shape::Array(type, {})));
  return body.computation();
}

}  // namespace ptxla::hlo
