#include "hlo_backend/passes/expanders/elementwise_expander.h"

#include "hlo_backend/passes/expanders/constant_division.h"
#include "hlo_backend/passes/expanders/rare_functions.h"

namespace ptxla::hlo {
namespace {

class ElementwiseExpander {
 public:
  // `widens`: functions of bf16 in fusions are computed as f32.
  ElementwiseExpander(Instruction* i, bool widens)
      : i_(*i),
        type_(i->shape().type()),
        widens_(widens),
        b_(i->parent()),
        rare_(&b_) {
    b_.set_metadata(i->shared_metadata());
  }

  // Null: the chip has it, or another pass.
  Instruction* Expand() {
    if (i_.opcode() == Opcode::kReal || i_.opcode() == Opcode::kImag) {
      const Instruction* pair = i_.operand(0);
      return pair->opcode() == Opcode::kComplex
                 ? pair->operand(i_.opcode() == Opcode::kReal ? 0 : 1)
                 : nullptr;
    }
    if (!i_.shape().IsArray() || BitWidth(type_) > 32 || IsComplex(type_)) {
      return nullptr;
    }
    if (IsFloat(type_)) return Float();
    return IsInteger(type_) ? Integer() : nullptr;
  }

 private:
  // It will be part of a fusion.
  bool HasElementwiseBeside() const {
    if (i_.operand(0)->IsElementwise()) return true;
    for (const Instruction* user : i_.users()) {
      if (user->IsElementwise()) return true;
    }
    return false;
  }

  Instruction* Operand(int k, PrimitiveType type) {
    Instruction* x = const_cast<Instruction*>(i_.operand(k));
    return x->shape().type() == type ? x : b_.Convert(x, type);
  }
  Instruction* Narrowed(Instruction* value) {
    return value->shape().type() == type_ ? value : b_.Convert(value, type_);
  }

  Instruction* Float() {
    using Unary = Instruction* (RareFunctions::*)(Instruction*);
    Unary unary = nullptr;
    switch (i_.opcode()) {
      case Opcode::kAsin:
        unary = &RareFunctions::Asin;
        break;
      case Opcode::kAcos:
        unary = &RareFunctions::Acos;
        break;
      case Opcode::kTan:
        unary = &RareFunctions::Tan;
        break;
      case Opcode::kSinh:
        unary = &RareFunctions::Sinh;
        break;
      case Opcode::kCosh:
        unary = &RareFunctions::Cosh;
        break;
      case Opcode::kAsinh:
        unary = &RareFunctions::Asinh;
        break;
      case Opcode::kAcosh:
        unary = &RareFunctions::Acosh;
        break;
      case Opcode::kAtanh:
        unary = &RareFunctions::Atanh;
        break;
      case Opcode::kAtan2:
        return Narrowed(rare_.Atan2(Operand(0, kF32), Operand(1, kF32)));
      case Opcode::kRemainder:
        return Narrowed(
            rare_.FloatRemainder(Operand(0, kF32), Operand(1, kF32)));
      case Opcode::kExp:
      case Opcode::kLogistic:
        return widens_ && type_ == PrimitiveType::kBf16 &&
                       HasElementwiseBeside()
                   ? Narrowed(b_.Unary(i_.opcode(), Operand(0, kF32)))
                   : nullptr;
      default:
        return nullptr;
    }
    return Narrowed((rare_.*unary)(Operand(0, kF32)));
  }

  Instruction* Integer() {
    const bool is_signed = IsSigned(type_);
    const PrimitiveType word =
        is_signed ? PrimitiveType::kS32 : PrimitiveType::kU32;
    switch (i_.opcode()) {
      case Opcode::kDivide:
      case Opcode::kRemainder:
        return Quotient(word, i_.opcode() == Opcode::kRemainder);
      case Opcode::kPower:
        return Narrowed(rare_.IntegerPower(Operand(0, word), Operand(1, word)));
      case Opcode::kMulhi:
        return BitWidth(type_) < 32 ? NarrowUpper(word) : nullptr;
      default:
        return nullptr;
    }
  }

  // Divisors that are not known: of words, bit by bit (integer_division.cc).
  Instruction* Quotient(PrimitiveType word, bool remainder) {
    Instruction* x = Operand(0, word);
    Instruction* known = DivideByConstant(&b_, x, i_.operand(1), remainder);
    if (known != nullptr) return Narrowed(known);
    if (type_ == word) return nullptr;
    return Narrowed(b_.Binary(i_.opcode(), x, Operand(1, word)));
  }

  // The whole product fits into a word.
  Instruction* NarrowUpper(PrimitiveType word) {
    Instruction* product = b_.Multiply(Operand(0, word), Operand(1, word));
    Instruction* shift = b_.BroadcastScalar(
        b_.ConstantScalar(word, BitWidth(type_)), product->shape().dims());
    return Narrowed(b_.Binary(IsSigned(type_) ? Opcode::kShiftRightArithmetic
                                              : Opcode::kShiftRightLogical,
                              product, shift));
  }

  const Instruction& i_;
  const PrimitiveType type_;
  const bool widens_;
  Builder b_;
  RareFunctions rare_;
};

}  // namespace

absl::StatusOr<bool> ElementwiseExpanderPass::Run(Module* module,
                                                  const PassContext& context) {
  const bool widens =
      context.chip != nullptr &&
      context.chip->Policy("fused_functions_f32").value_or(0) != 0;
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* expanded = ElementwiseExpander(i, widens).Expand();
      if (expanded == nullptr) continue;
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
