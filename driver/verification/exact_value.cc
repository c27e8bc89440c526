#include "driver/verification/exact_value.h"

#include <memory>
#include <utility>

#include "hlo_backend/ir/computation.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Literal;
using hlo::PrimitiveType;
using hlo::Shape;

bool IsNarrow(const Shape& s) {
  return s.IsArray() && hlo::IsFloat(s.type()) && hlo::BitWidth(s.type()) == 16;
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
                                        hlo::EvaluatorOptions options) {
  const std::unique_ptr<hlo::Module> wide = module.Clone();
  for (hlo::Computation* c : wide->computations()) {
    for (Instruction* i : c->instructions()) {
      if (!HasNarrow(i->shape())) continue;
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
