#include "driver/verification/exact_value.h"

#include <memory>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::Opcode;
using hlo::PrimitiveType;
using hlo::Shape;

bool IsNarrow(const Shape& s) {
  return s.IsArray() && hlo::IsFloat(s.type()) && hlo::BitWidth(s.type()) <= 16;
}

// The type of what it makes is meant.
bool KeepsType(const Instruction& i) {
  return i.opcode() == Opcode::kBitcastConvert ||
         (i.opcode() == Opcode::kConvert &&
          hlo::BitWidth(i.shape().type()) <= 8);
}

void Widen(Shape* shape) {
  if (shape->IsTuple()) {
    for (int i = 0; i < shape->element_count_of_tuple(); ++i) {
      Widen(shape->mutable_element(i));
    }
  } else if (IsNarrow(*shape)) {
    shape->set_type(PrimitiveType::kF32);
  }
}

// The same shape and operand, to be widened or not apart from it.
Instruction* Converted(Instruction* x) {
  return x->parent()->Add(Opcode::kConvert, x->shape(), {x});
}

// Sets what has to stay narrow apart from what is widened; returns it.
absl::flat_hash_set<const Instruction*> SetApart(hlo::Computation* c) {
  absl::flat_hash_set<const Instruction*> kept;
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() == Opcode::kBitcastConvert &&
        IsNarrow(i->operand(0)->shape())) {
      Instruction* bits = Converted(i->operand(0));
      i->ReplaceOperand(0, bits);
      kept.insert(bits);
    }
    if (!IsNarrow(i->shape()) || !KeepsType(*i)) continue;
    const std::vector<Instruction*> users(i->users().begin(), i->users().end());
    Instruction* value = Converted(i);
    for (Instruction* user : users) i->ReplaceUseIn(user, value);
    if (c->root() == i) c->SetRoot(value);
    kept.insert(i);
  }
  return kept;
}

// Multiplies the first operand of comparisons of arrays with a threshold: who
// asks for equal values means the same value. Comparisons of scalars order a
// sort or choose in a reduce, which must stay consistent.
void MoveComparisons(double factor, hlo::Computation* c) {
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() != Opcode::kCompare || i->shape().rank() == 0) continue;
    const auto direction = i->attrs<hlo::CompareAttrs>().direction;
    if (direction == hlo::CompareDirection::kEq ||
        direction == hlo::CompareDirection::kNe) {
      continue;
    }
    Instruction* x = i->operand(0);
    if (!IsNarrow(x->shape())) continue;
    Instruction* off =
        c->AddConstant(Literal::Scalar(static_cast<float>(factor)));
    Instruction* all = c->Add(Opcode::kBroadcast, x->shape(), {off});
    i->ReplaceOperand(0, c->Add(Opcode::kMultiply, x->shape(), {x, all}));
  }
}

}  // namespace

bool HasNarrow(const Shape& shape) {
  bool narrow = false;
  hlo::ForEachLeaf(shape, [&](const Shape& s, const hlo::ShapeIndex&) {
    narrow = narrow || IsNarrow(s);
  });
  return narrow;
}

Literal Widened(const Literal& from) {
  if (!HasNarrow(from.shape())) return from;
  if (from.IsTuple()) {
    std::vector<Literal> elements;
    for (const Literal& e : from.elements()) elements.push_back(Widened(e));
    return Literal::Tuple(std::move(elements));
  }
  Shape shape = from.shape();
  Widen(&shape);
  if (from.IsElided()) return Literal::Elided(shape);
  Literal to(shape);
  to.mutable_bytes();
  for (int64_t i = 0; i < from.ElementCount(); ++i) {
    to.SetDouble(i, from.GetDouble(i));
  }
  return to;
}

absl::StatusOr<Literal> EvaluateWidened(const hlo::Module& module,
                                        absl::Span<const Literal> arguments,
                                        hlo::EvaluatorOptions options,
                                        double compared_off) {
  const std::unique_ptr<hlo::Module> wide = module.Clone();
  for (hlo::Computation* c : wide->computations()) {
    if (compared_off != 0) MoveComparisons(1 + compared_off, c);
    const absl::flat_hash_set<const Instruction*> kept = SetApart(c);
    for (Instruction* i : c->instructions()) {
      if (!HasNarrow(i->shape()) || kept.contains(i)) continue;
      if (i->IsConstant()) {
        i->mutable_attrs<hlo::ConstantAttrs>()->literal =
            std::make_shared<const Literal>(Widened(i->literal()));
      }
      Widen(i->mutable_shape());
    }
  }
  std::vector<Literal> wide_arguments;
  for (const Literal& a : arguments) wide_arguments.push_back(Widened(a));
  options.tpu_mode = false;
  return hlo::Evaluate(*wide, wide_arguments, options);
}

}  // namespace ptxla::driver
