#include "base/status.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

// The called computation takes these operands.
absl::Status CheckSignature(const Computation& callee,
                            absl::Span<const Shape* const> operands) {
  if (callee.parameter_count() != static_cast<int>(operands.size())) {
    return Fail(callee.name(), " takes ", callee.parameter_count(),
                " parameters, not ", operands.size());
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    const Instruction* parameter = callee.parameter(static_cast<int>(i));
    if (parameter == nullptr) {
      return Fail("parameter ", i, " of ", callee.name(), " is missing");
    }
    if (!parameter->shape().SameDimsAndType(*operands[i])) {
      return Fail("operand ", i, " is ", Text(*operands[i]), ", parameter ", i,
                  " of ", callee.name(), " is ", Text(parameter->shape()));
    }
  }
  return absl::OkStatus();
}

Result RootShape(const Computation& callee) {
  if (callee.root() == nullptr) return Fail(callee.name(), " has no root");
  return WithoutLayout(callee.root()->shape());
}

Result While(const Args& a) {
  if (a.called.size() != 2) return Fail("while needs body= and condition=");
  const Shape& state = a.operand(0);
  for (const Computation* c : a.called) {
    RETURN_IF_ERROR(CheckSignature(*c, a.operands));
  }
  ASSIGN_OR_RETURN(Shape next, RootShape(*a.called[0]));
  if (!next.SameDimsAndType(state)) {
    return Fail("the body ", a.called[0]->name(), " returns ", Text(next),
                ", the state is ", Text(state));
  }
  ASSIGN_OR_RETURN(Shape goes_on, RootShape(*a.called[1]));
  if (goes_on.type() != PrimitiveType::kPred || !goes_on.IsScalar()) {
    return Fail("the condition ", a.called[1]->name(), " returns ",
                Text(goes_on), ", not pred[]");
  }
  return next;
}

Result Conditional(const Args& a) {
  if (a.operand_count() == 0 || a.called.empty()) {
    return Fail("conditional needs a selector and branches");
  }
  const Shape& selector = a.operand(0);
  const bool is_pred = selector.type() == PrimitiveType::kPred;
  if (!selector.IsScalar() ||
      (!is_pred && selector.type() != PrimitiveType::kS32)) {
    return Fail("the selector is ", Text(selector), ", not pred[] or s32[]");
  }
  if (is_pred && a.called.size() != 2) {
    return Fail("a pred selects between 2 branches, not ", a.called.size());
  }
  if (a.operand_count() != static_cast<int>(a.called.size()) + 1) {
    return Fail(a.called.size(), " branches have ", a.operand_count() - 1,
                " operands");
  }
  ASSIGN_OR_RETURN(Shape shape, RootShape(*a.called[0]));
  for (size_t i = 0; i < a.called.size(); ++i) {
    RETURN_IF_ERROR(CheckSignature(*a.called[i], a.operands.subspan(i + 1, 1)));
    ASSIGN_OR_RETURN(Shape other, RootShape(*a.called[i]));
    if (!other.SameDimsAndType(shape)) {
      return Fail("branches return ", Text(shape), " and ", Text(other));
    }
  }
  return shape;
}

}  // namespace

Result Control(const Args& a) {
  switch (a.opcode) {
    case Opcode::kTuple: {
      std::vector<Shape> elements;
      elements.reserve(a.operands.size());
      for (const Shape* s : a.operands) elements.push_back(WithoutLayout(*s));
      return Shape::Tuple(std::move(elements));
    }
    case Opcode::kGetTupleElement: {
      const int64_t index = a.attrs<TupleIndexAttrs>()->index;
      const Shape& tuple = a.operand(0);
      if (!tuple.IsTuple()) return Fail(Text(tuple), " is no tuple");
      if (index < 0 || index >= tuple.element_count_of_tuple()) {
        return Fail("index=", index, " of a tuple with ",
                    tuple.element_count_of_tuple(), " elements");
      }
      return WithoutLayout(tuple.element(static_cast<int>(index)));
    }
    case Opcode::kCall:
    case Opcode::kFusion: {
      if (a.called.size() != 1) return Fail("it calls nothing");
      RETURN_IF_ERROR(CheckSignature(*a.called[0], a.operands));
      return RootShape(*a.called[0]);
    }
    case Opcode::kWhile:
      return While(a);
    case Opcode::kConditional:
      return Conditional(a);
    case Opcode::kAfterAll:
      for (const Shape* s : a.operands) {
        if (!s->IsToken()) return Fail(Text(*s), " is no token");
      }
      return Shape::Token();
    case Opcode::kAddDependency:
      if (!a.operand(1).IsToken()) {
        return Fail(Text(a.operand(1)), " is no token");
      }
      return WithoutLayout(a.operand(0));
    case Opcode::kDomain:
    case Opcode::kOptimizationBarrier:
      return WithoutLayout(a.operand(0));
    default: {  // custom-call
      const auto* attrs = a.attrs<CustomCallAttrs>();
      if (attrs == nullptr || !attrs->operand_layout_constraints) {
        return Declared(a);
      }
      const std::vector<Shape>& constraints =
          *attrs->operand_layout_constraints;
      if (static_cast<int>(constraints.size()) != a.operand_count()) {
        return Fail("operand_layout_constraints= has ", constraints.size(),
                    " shapes for ", a.operand_count(), " operands");
      }
      for (int i = 0; i < a.operand_count(); ++i) {
        if (!constraints[i].SameDimsAndType(a.operand(i))) {
          return Fail("operand_layout_constraints= says ", Text(constraints[i]),
                      " of operand ", i, ", which is ", Text(a.operand(i)));
        }
      }
      return Declared(a);
    }
  }
}

}  // namespace ptxla::hlo::infer
