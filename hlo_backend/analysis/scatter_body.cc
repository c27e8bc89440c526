#include "hlo_backend/analysis/scatter_body.h"

#include "hlo_backend/analysis/monoid.h"

namespace ptxla::hlo {
namespace {

bool IsParameter(const Instruction& i, int64_t number) {
  return i.opcode() == Opcode::kParameter && i.parameter_number() == number;
}

}  // namespace

bool ReplacesOldValue(const Computation& body) {
  return IsParameter(*body.root(), 1);
}

bool IsOneOperation(const Computation& body, int k, int arrays) {
  if (arrays == 1) {
    return ReplacesOldValue(body) || MonoidOf(body).has_value();
  }
  if (body.root()->opcode() != Opcode::kTuple) return false;
  const Instruction& value = *body.root()->operand(k);
  if (IsParameter(value, arrays + k)) return true;
  if (!IsMonoid(value.opcode()) || value.operand_count() != 2) {
    return false;
  }
  const Instruction &x = *value.operand(0), &y = *value.operand(1);
  return (IsParameter(x, k) && IsParameter(y, arrays + k)) ||
         (IsParameter(y, k) && IsParameter(x, arrays + k));
}

}  // namespace ptxla::hlo
