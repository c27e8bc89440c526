// X64Eliminator: c64.
#include <vector>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/passes/x64/x64_eliminator.h"

namespace ptxla::hlo {
namespace {

bool IsC64(const Instruction& i) {
  return i.shape().IsArray() && i.shape().type() == PrimitiveType::kC64;
}

}  // namespace

// What is no number of 64 bits itself.
absl::StatusOr<Instruction*> X64Eliminator::OfComplex(Instruction* i) {
  const X64Pair x = PairOf(i->operand(0));
  switch (i->opcode()) {
    case Opcode::kReal:
      return x.low;
    case Opcode::kImag:
      return x.high;
    case Opcode::kAbs:
      return complex_.Abs(x);
    case Opcode::kCompare: {
      const CompareDirection direction = i->attrs<CompareAttrs>().direction;
      if (direction != CompareDirection::kEq &&
          direction != CompareDirection::kNe) {
        return Refuse(*i);
      }
      return complex_.Equal(x, PairOf(i->operand(1)), direction);
    }
    default:
      return Refuse(*i);
  }
}

absl::StatusOr<X64Pair> X64Eliminator::ComplexValue(Instruction* i) {
  switch (i->opcode()) {
    case Opcode::kComplex:
      return X64Pair{i->operand(0), i->operand(1)};
    case Opcode::kConstant:
      return complex_.Constant(i->literal());
    case Opcode::kConvert: {
      Instruction* x = i->operand(0);
      if (!IsX64(x->shape())) return complex_.FromReal(x);
      const X64Pair pair = PairOf(x);
      if (IsC64(*x)) return pair;
      return complex_.FromReal(
          x->shape().type() == PrimitiveType::kF64
              ? more_.F64ToNarrow(pair, PrimitiveType::kF32)
              : math_.ToNarrow(pair, PrimitiveType::kF32,
                               IsSigned(x->shape().type())));
    }
    case Opcode::kDot:
    case Opcode::kConvolution: {
      if (!IsC64(*i->operand(0)) || !IsC64(*i->operand(1))) return Refuse(*i);
      return complex_.Bilinear(PairOf(i->operand(0)), PairOf(i->operand(1)),
                               [&](Instruction* lhs, Instruction* rhs) {
                                 return Like(*i, {lhs, rhs});
                               });
    }
    case Opcode::kReduceWindow: {
      // Sums are those of the parts.
      if (i->operand_count() != 2 || MonoidOf(*i->to_apply()) != Opcode::kAdd) {
        return Refuse(*i);
      }
      const X64Pair x = PairOf(i->operand(0)), start = PairOf(i->operand(1));
      Computation* sum = b_.Scalar2(Opcode::kAdd, PrimitiveType::kF32);
      const auto part = [&](Instruction* value, Instruction* from) {
        return b_.ReduceWindow({value}, {from}, i->attrs<WindowAttrs>().window,
                               sum);
      };
      return X64Pair{part(x.low, start.low), part(x.high, start.high)};
    }
    case Opcode::kAllReduce:
    case Opcode::kReduceScatter: {
      if (i->operand_count() != 1 || MonoidOf(*i->to_apply()) != Opcode::kAdd) {
        return Refuse(*i);
      }
      const X64Pair x = PairOf(i->operand(0));
      Computation* sum = b_.Scalar2(Opcode::kAdd, PrimitiveType::kF32);
      const Shape shape = Shape::Array(PrimitiveType::kF32, i->shape().dims());
      const auto part = [&](Instruction* value) {
        return c_->Add(i->opcode(), shape, {value}, i->attributes(), {sum},
                       i->name());
      };
      return X64Pair{part(x.low), part(x.high)};
    }
    default:
      break;
  }
  std::vector<X64Pair> operands;
  for (Instruction* o : i->operands()) {
    if (!IsC64(*o)) return Refuse(*i);
    operands.push_back(PairOf(o));
  }
  if (const auto value = complex_.Of(i->opcode(), operands)) return *value;
  return Refuse(*i);
}

// A sum part by part; a product by pairs.
absl::StatusOr<X64Pair> X64Eliminator::ReducedComplex(Instruction* i,
                                                      Opcode op) {
  const X64Pair value = PairOf(i->operand(0)), start = PairOf(i->operand(1));
  const PrimitiveType f32 = PrimitiveType::kF32;
  if (op == Opcode::kAdd) {
    Computation* sum = b_.Scalar2(op, f32);
    const auto part = [&](Instruction* x, Instruction* from) {
      return b_.Reduce(x, from, i->dimensions(), sum);
    };
    return X64Pair{part(value.low, start.low), part(value.high, start.high)};
  }
  if (op != Opcode::kMultiply) return Refuse(*i);
  Builder body(i->parent()->module()->AddComputation("complex_multiply"));
  const Shape word = Shape::Scalar(f32);
  const X64Pair x = {body.Parameter(0, word), body.Parameter(1, word)};
  const X64Pair y = {body.Parameter(2, word), body.Parameter(3, word)};
  const X64Pair r = X64Complex(&body).Multiply(x, y);
  body.computation()->SetRoot(body.Tuple({r.low, r.high}));
  Instruction* both =
      b_.ReduceMany({value.low, value.high}, {start.low, start.high},
                    i->dimensions(), body.computation());
  return X64Pair{b_.GetTupleElement(both, 0), b_.GetTupleElement(both, 1)};
}

}  // namespace ptxla::hlo
