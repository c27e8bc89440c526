#include "hlo_backend/lowering/sorting/sort_key.h"

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/primitive_type.h"

namespace ptxla::lowering {
namespace {

using hlo::Instruction;
using Hlo = hlo::Opcode;

// The same function of parameters `p` and `q`, and of no others.
bool SameOf(const Instruction& x, int64_t p, const Instruction& y, int64_t q) {
  if (x.opcode() != y.opcode() || x.shape().type() != y.shape().type() ||
      x.operand_count() != y.operand_count()) {
    return false;
  }
  switch (x.opcode()) {
    case Hlo::kParameter:
      return x.parameter_number() == p && y.parameter_number() == q;
    case Hlo::kConstant:
      return &x == &y || x.literal() == y.literal();
    case Hlo::kCompare: {
      const auto& a = x.attrs<hlo::CompareAttrs>();
      const auto& b = y.attrs<hlo::CompareAttrs>();
      if (a.direction != b.direction || a.type != b.type) return false;
      break;
    }
    case Hlo::kReducePrecision:
      return false;
    default:
      if (!x.IsElementwise()) return false;
  }
  for (int k = 0; k < x.operand_count(); ++k) {
    if (!SameOf(*x.operand(k), p, *y.operand(k), q)) return false;
  }
  return true;
}

// The first parameter below; -1: none.
int64_t ParameterOf(const Instruction& x) {
  if (x.opcode() == Hlo::kParameter) return x.parameter_number();
  for (const Instruction* o : x.operands()) {
    if (const int64_t p = ParameterOf(*o); p >= 0) return p;
  }
  return -1;
}

}  // namespace

std::optional<SortKey> SortKey::Of(const Instruction& sort) {
  const Instruction& root = *sort.to_apply()->root();
  if (root.opcode() != Hlo::kCompare) return {};
  const auto& compare = root.attrs<hlo::CompareAttrs>();
  if (compare.direction != hlo::CompareDirection::kLt &&
      compare.direction != hlo::CompareDirection::kGt) {
    return {};
  }
  const Instruction &x = *root.operand(0), &y = *root.operand(1);
  const int64_t p = ParameterOf(x);
  if (p < 0 || !SameOf(x, p, y, p ^ 1)) return {};
  if (x.shape().type() == hlo::PrimitiveType::kPred) return {};
  SortKey key;
  key.of_first = &x;
  key.array = static_cast<int>(p / 2);
  key.swapped = p % 2 != 0;
  key.direction = compare.direction;
  key.total_order = compare.type == hlo::CompareType::kTotalOrder &&
                    hlo::IsFloat(x.shape().type());
  key.is_value = x.opcode() == Hlo::kParameter;
  return key;
}

}  // namespace ptxla::lowering
