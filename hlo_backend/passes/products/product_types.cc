#include "hlo_backend/passes/products/product_types.h"

#include <array>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

using Types = std::array<PrimitiveType, 2>;  // of the operands

bool IsPred(PrimitiveType t) { return t == PrimitiveType::kPred; }
bool IsRounded(PrimitiveType t) { return IsInteger(t) && BitWidth(t) > 8; }

// The types to multiply for a result of the type.
Types TypesFor(PrimitiveType result, Types types) {
  const bool counts = IsPred(types[0]) && IsPred(types[1]);
  for (PrimitiveType& t : types) {
    if (IsPred(t)) {
      t = IsInteger(result) && !counts ? PrimitiveType::kS8
                                       : PrimitiveType::kBf16;
    } else if (IsFloat(result) && IsRounded(t)) {
      t = BitWidth(result) == 64 ? PrimitiveType::kF64 : PrimitiveType::kF32;
    }
  }
  return types;
}

PrecisionConfig* PrecisionOf(Instruction* product) {
  return product->opcode() == Opcode::kDot
             ? &product->mutable_attrs<DotAttrs>()->precision
             : &product->mutable_attrs<ConvAttrs>()->precision;
}

Instruction* OnProductTypes(Instruction* i) {
  if ((i->opcode() != Opcode::kDot && i->opcode() != Opcode::kConvolution) ||
      i->operand_count() != 2) {
    return nullptr;
  }
  const PrimitiveType result = i->shape().type();
  const Types given = {i->operand(0)->shape().type(),
                       i->operand(1)->shape().type()};
  const Types types = TypesFor(result, given);
  // Sums are f32: where no register is left for their rounding, it becomes a
  // kernel of its own.
  const bool rounds =
      i->opcode() == Opcode::kDot && IsFloat(result) && BitWidth(result) == 8;
  if (types == given && !rounds) return nullptr;
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  std::array<Instruction*, 2> operands;
  for (int o = 0; o < 2; ++o) {
    operands[o] = i->operand(o);
    if (types[o] != given[o]) operands[o] = b.Convert(operands[o], types[o]);
  }
  Shape sums = i->shape();
  const bool floats = IsFloat(types[0]) && IsFloat(types[1]);
  if (rounds || (floats && !IsFloat(result))) {
    sums.set_type(PrimitiveType::kF32);
  }
  Instruction* product = i->parent()->AddLike(*i, sums, operands);
  for (int o = 0; o < 2; ++o) {
    if (!IsRounded(given[o]) || types[o] != PrimitiveType::kF32) continue;
    PrecisionConfig* p = PrecisionOf(product);
    p->operands.resize(2, Precision::kDefault);
    p->operands[o] = Precision::kHighest;
  }
  if (IsPred(result)) {
    Instruction* zero = b.BroadcastScalar(b.Zero(sums.type()), sums.dims());
    return b.Compare(product, zero, CompareDirection::kNe);
  }
  return sums.type() == result ? product : b.Convert(product, result);
}

}  // namespace

absl::StatusOr<bool> ProductTypesPass::Run(Module* module, const PassContext&) {
  return ExpandEach(module, OnProductTypes);
}

}  // namespace ptxla::hlo
