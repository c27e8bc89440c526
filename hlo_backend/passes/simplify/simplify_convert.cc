#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

int MantissaBits(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF64:
      return 52;
    case PrimitiveType::kF32:
      return 23;
    case PrimitiveType::kF16:
      return 10;
    case PrimitiveType::kBf16:
      return 7;
    default:
      return 0;  // not looked at
  }
}

int ExponentBits(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF64:
      return 11;
    case PrimitiveType::kF32:
    case PrimitiveType::kBf16:
      return 8;
    case PrimitiveType::kF16:
      return 5;
    default:
      return 0;
  }
}

// Every value of `from` is a value of `to`.
bool Holds(PrimitiveType to, PrimitiveType from) {
  if (from == PrimitiveType::kPred) {
    return to != PrimitiveType::kPred && to != PrimitiveType::kS1;
  }
  if (IsFloat(from) && IsFloat(to)) {
    return MantissaBits(from) > 0 && MantissaBits(to) >= MantissaBits(from) &&
           ExponentBits(to) >= ExponentBits(from);
  }
  if (IsInteger(from) && IsInteger(to)) {
    if (IsSigned(from) == IsSigned(to)) return BitWidth(to) >= BitWidth(from);
    return IsSigned(to) && BitWidth(to) > BitWidth(from);
  }
  if (IsInteger(from) && IsFloat(to)) {
    return BitWidth(from) <= MantissaBits(to) + 1;
  }
  return false;
}

// Integers become others by their low bits, floats the nearest that there is:
// who goes through a float may not go straight where a number does not fit.
bool MayGoStraight(PrimitiveType from, PrimitiveType through,
                   PrimitiveType to) {
  if (!Holds(through, from) || IsComplex(to)) return false;
  return !IsFloat(through) || IsFloat(from) || !IsInteger(to) ||
         Holds(to, from);
}

// Rounding to the type may be left out: it is how work is stored between
// operations. One to narrower types is meant: values are quantised by it.
bool IsRoundingOfWork(PrimitiveType type) {
  return type == PrimitiveType::kF32 || type == PrimitiveType::kBf16;
}

// Work that may be done before or after a transpose: where that brings the
// transpose next to a dot, or moves no more bytes.
bool MayPassTranspose(const Instruction& i) {
  if (BitWidth(i.shape().type()) <= BitWidth(i.operand(0)->shape().type())) {
    return true;
  }
  for (const Instruction* user : i.users()) {
    if (user->opcode() == Opcode::kDot) return true;
  }
  return false;
}

}  // namespace

Instruction* SimplifyBitcastConvert(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  if (x->opcode() != Opcode::kBitcastConvert) return nullptr;
  Instruction* source = x->operand(0);
  // Words of one size all along.
  if (source->shape().dims() != x->shape().dims() ||
      x->shape().dims() != i->shape().dims()) {
    return nullptr;
  }
  return source->shape().type() == i->shape().type()
             ? source
             : r.builder().BitcastConvert(source, i->shape());
}

Instruction* SimplifyConvert(Instruction* i, Rewriter& r) {
  Instruction* x = i->operand(0);
  const PrimitiveType to = i->shape().type();
  Builder& b = r.builder();
  if (x->shape().type() == to) return x;
  if (x->opcode() == Opcode::kConvert) {
    Instruction* source = x->operand(0);
    const PrimitiveType from = source->shape().type();
    if (MayGoStraight(from, x->shape().type(), to)) {
      return from == to ? source : b.Convert(source, to);
    }
    if (from == to && IsFloat(from) && IsRoundingOfWork(x->shape().type()) &&
        r.options().allow_excess_precision) {
      // A product that is stored is stored as it is rounded; kernels that go on
      // with it do not round.
      if (source->opcode() == Opcode::kDot && source->user_count() == 1 &&
          x->user_count() == 1 && !source->shape().has_layout()) {
        Shape rounded = source->shape();
        rounded.set_type(x->shape().type());
        return b.Convert(
            i->parent()->AddLike(*source, rounded, source->operands()), to);
      }
      return source;
    }
  }
  if (x->opcode() == Opcode::kTranspose && x->user_count() == 1 &&
      !i->shape().has_layout() && MayPassTranspose(*i)) {
    return b.Transpose(b.Convert(x->operand(0), to), x->dimensions());
  }
  // Splits and joins of dimensions pass too, so that they meet; behind a
  // transpose the narrower numbers do.
  if (x->opcode() == Opcode::kReshape && x->user_count() == 1 &&
      !i->shape().has_layout() &&
      ((i->user_count() == 1 && i->users()[0]->opcode() == Opcode::kDot) ||
       (x->operand(0)->opcode() == Opcode::kTranspose &&
        BitWidth(to) < BitWidth(x->shape().type())))) {
    return b.Reshape(b.Convert(x->operand(0), to), i->shape().dims());
  }
  return nullptr;
}

}  // namespace ptxla::hlo
