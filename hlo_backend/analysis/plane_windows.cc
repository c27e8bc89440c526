#include "hlo_backend/analysis/plane_windows.h"

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// ge(first, second): of equal numbers the first one stays.
bool SelectsFirstMaximum(const Computation& select) {
  const Instruction& ge = *select.root();
  return ge.opcode() == Opcode::kCompare &&
         ge.attrs<CompareAttrs>().direction == CompareDirection::kGe &&
         ge.operand(0)->opcode() == Opcode::kParameter &&
         ge.operand(1)->opcode() == Opcode::kParameter &&
         ge.operand(0)->parameter_number() == 0 &&
         ge.operand(1)->parameter_number() == 1;
}

}  // namespace

bool IsIdentity(const WindowDim& w) {
  return w.size == 1 && w.stride == 1 && w.padding_low == 0 &&
         w.padding_high == 0 && w.base_dilation == 1;
}

bool IsScalarConstant(const Instruction& i, uint32_t bits) {
  if (i.opcode() != Opcode::kConstant || !i.shape().IsScalar()) return false;
  const Literal& literal = i.literal();
  if (literal.IsElided()) return false;
  if (literal.element_bytes() == 2) {
    return literal.Get<uint16_t>(0) == bits >> 16;
  }
  return literal.element_bytes() == 4 && literal.Get<uint32_t>(0) == bits;
}

std::optional<uint32_t> WindowIdentity(Opcode op, PrimitiveType type) {
  const bool is_float =
      type == PrimitiveType::kF32 || type == PrimitiveType::kBf16;
  const bool is_signed = type == PrimitiveType::kS32;
  if (!is_float && !is_signed && type != PrimitiveType::kU32) return {};
  switch (op) {
    case Opcode::kAdd:
      return 0;
    case Opcode::kMultiply:
      return is_float ? 0x3F800000u : 1u;
    case Opcode::kMaximum:
      return is_float ? 0xFF800000u : is_signed ? 0x80000000u : 0u;
    case Opcode::kMinimum:
      return is_float ? 0x7F800000u : is_signed ? 0x7FFFFFFFu : 0xFFFFFFFFu;
    default:
      return {};
  }
}

bool IsSimpleWindow(const Instruction& i) {
  const bool scatters = i.opcode() == Opcode::kSelectAndScatter;
  if (!scatters && i.opcode() != Opcode::kReduceWindow) return false;
  if (i.operand_count() != (scatters ? 3 : 2) || !i.shape().IsArray()) {
    return false;
  }
  const PrimitiveType type = i.operand(0)->shape().type();
  for (const WindowDim& w : i.attrs<WindowAttrs>().window.dims) {
    if (w.reversal || (scatters && w.window_dilation != 1)) return false;
  }
  if (!scatters) {
    const auto op = MonoidOf(*i.to_apply());
    return op.has_value() && WindowIdentity(*op, type).has_value();
  }
  const auto op = MonoidOf(*i.scatter());
  return IsFloat(type) && op.has_value() &&
         WindowIdentity(*op, type).has_value() &&
         SelectsFirstMaximum(*i.select());
}

}  // namespace ptxla::hlo
