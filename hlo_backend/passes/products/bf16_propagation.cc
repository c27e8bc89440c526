#include "hlo_backend/passes/products/bf16_propagation.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {
namespace {

// f32 operands are rounded to bf16 once.
bool RoundsOperands(const PrecisionConfig& precision) {
  if (precision.algorithm == DotAlgorithm::kBf16Bf16F32) return true;
  return precision.algorithm == DotAlgorithm::kUnset &&
         precision.operand(0) == Precision::kDefault &&
         precision.operand(1) == Precision::kDefault;
}

bool RoundsOperands(const Instruction& product) {
  for (const Instruction* o : product.operands()) {
    const PrimitiveType type = o->shape().type();
    if (type != PrimitiveType::kF32 && type != PrimitiveType::kBf16) {
      return false;
    }
  }
  return product.opcode() == Opcode::kDot
             ? RoundsOperands(product.attrs<DotAttrs>().precision)
             : RoundsOperands(product.attrs<ConvAttrs>().precision);
}

// Rounding before it is rounding behind it.
bool Moves(const Instruction& i) {
  return i.opcode() == Opcode::kTranspose || i.opcode() == Opcode::kReshape ||
         i.opcode() == Opcode::kBitcast || i.opcode() == Opcode::kSlice ||
         i.opcode() == Opcode::kDynamicSlice;
}

// All who read the value, through movements, are products that round it.
bool OnlyFeedsProducts(const Instruction& value) {
  return value.user_count() > 0 && !value.IsRoot() &&
         std::all_of(
             value.users().begin(), value.users().end(),
             [](const Instruction* user) { return RoundsForProducts(*user); });
}

// The kernel of a product makes it, as the last of at most `depth` steps.
bool IsBehindProduct(const Instruction& value, int depth) {
  if (IsProduct(value)) return true;
  if (depth == 0 || !value.IsElementwise()) return false;
  return std::any_of(value.operands().begin(), value.operands().end(),
                     [&](const Instruction* o) {
                       return o->user_count() == 1 &&
                              o->shape().SameDims(value.shape()) &&
                              IsBehindProduct(*o, depth - 1);
                     });
}

// Products read the value, and sums that the kernel which makes it makes, too,
// before it rounds (the gradient of a bias).
bool FeedsProductsAndSums(const Instruction& value) {
  constexpr int kMostSteps = 64;
  if (value.IsRoot()) return false;
  bool products = false;
  for (const Instruction* user : value.users()) {
    if (RoundsForProducts(*user)) {
      products = true;
    } else if (user->opcode() != Opcode::kReduce || !IsFusibleReduce(*user)) {
      return false;
    }
  }
  return products && IsBehindProduct(value, kMostSteps);
}

// Work whose kernel can round its result.
bool IsMadeHere(const Instruction& i) {
  return IsProduct(i) || i.opcode() == Opcode::kReduce ||
         (i.IsElementwise() && i.opcode() != Opcode::kConvert);
}

// Brings other numbers into lanes, of an array that others made, for
// convolutions alone.
bool MovesForConvolutions(const Instruction& i) {
  if (i.opcode() != Opcode::kTranspose ||
      i.dimensions().back() == i.shape().rank() - 1) {
    return false;
  }
  const Instruction* source = i.operand(0);
  while (source->opcode() == Opcode::kBitcast) source = source->operand(0);
  return source->opcode() == Opcode::kParameter && i.user_count() > 0 &&
         !i.IsRoot() &&
         std::all_of(i.users().begin(), i.users().end(),
                     [&](const Instruction* user) {
                       return user->opcode() == Opcode::kConvolution &&
                              user->operand(0) == &i &&
                              user->operand(1) != &i && RoundsOperands(*user);
                     });
}

// A movement of what is rounded, and those behind it.
void Narrow(Instruction* movement) {
  movement->mutable_shape()->set_type(PrimitiveType::kBf16);
  for (Instruction* user : movement->users()) {
    if (!IsProduct(*user)) Narrow(user);
  }
}

}  // namespace

bool RoundsForProducts(const Instruction& user) {
  return IsProduct(user) ? RoundsOperands(user)
                         : Moves(user) && OnlyFeedsProducts(user);
}

void NarrowForProducts(Instruction* value, const Instruction* except) {
  value->mutable_shape()->set_type(PrimitiveType::kBf16);
  for (Instruction* user : value->users()) {
    if (user != except && !IsProduct(*user)) Narrow(user);
  }
}

namespace {

void Round(Instruction* value) {
  const std::vector<Instruction*> users(value->users().begin(),
                                        value->users().end());
  Builder b(value->parent());
  b.set_metadata(value->shared_metadata());
  Instruction* rounded = b.Convert(value, PrimitiveType::kBf16);
  for (Instruction* user : users) {
    if (user->opcode() == Opcode::kReduce) continue;
    value->ReplaceUseIn(user, rounded);
    if (!IsProduct(*user)) Narrow(user);
  }
}

void RoundBefore(Instruction* movement) {
  Builder b(movement->parent());
  b.set_metadata(movement->shared_metadata());
  movement->ReplaceOperand(
      0, b.Convert(movement->operand(0), PrimitiveType::kBf16));
  movement->mutable_shape()->set_type(PrimitiveType::kBf16);
}

}  // namespace

absl::StatusOr<bool> Bf16PropagationPass::Run(Module* module,
                                              const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    if (c->IsFusionComputation()) continue;
    for (Instruction* i : c->PostOrder()) {
      if (!i->shape().IsArray() || i->shape().IsScalar() ||
          i->shape().type() != PrimitiveType::kF32) {
        continue;
      }
      if (IsMadeHere(*i) &&
          (OnlyFeedsProducts(*i) || FeedsProductsAndSums(*i))) {
        Round(i);
      } else if (MovesForConvolutions(*i)) {
        RoundBefore(i);
      } else {
        continue;
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
