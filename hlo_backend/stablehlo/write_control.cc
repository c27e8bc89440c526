// Calls, loops, branches, random numbers, and what is a value as it is.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// `HEAD names {attributes} : TYPES` with results defined.
absl::Status Finish(const Instruction& i, Writer& w, OpText op,
                    const Values& operands) {
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Composite(const Instruction& i, Writer& w,
                       const std::string& name) {
  const FrontendAttributes& frontend = i.frontend_attributes();
  auto find = [&frontend](const char* key) {
    auto it = frontend.find(key);
    return it == frontend.end() ? std::string() : it->second;
  };
  const Values operands = w.OperandValues(i);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.composite ", Quoted(name),
                         names.empty() ? "" : " ", names);
  const std::string attributes = find("composite.attributes");
  if (!attributes.empty() && attributes != "{}") {
    op.attributes.push_back(
        absl::StrCat("composite_attributes = ", attributes));
  }
  op.attributes.push_back(
      absl::StrCat("decomposition = ", w.FunctionName(*i.to_apply())));
  const std::string version = find("composite.version");
  if (!version.empty() && version != "0") {
    op.attributes.push_back(absl::StrCat("version = ", version, " : i32"));
  }
  return Finish(i, w, std::move(op), operands);
}

// Fusions too: their computation is a function.
absl::Status Call(const Instruction& i, Writer& w) {
  const auto* attrs = i.attrs_if<CallAttrs>();
  if (attrs != nullptr && attrs->is_composite) {
    auto it = i.frontend_attributes().find("composite.name");
    if (it != i.frontend_attributes().end()) {
      return Composite(i, w, it->second);
    }
  }
  const Values operands = w.OperandValues(i);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("func.call ", w.FunctionName(*i.called()[0]), "(",
                         names, ")");
  return Finish(i, w, std::move(op), operands);
}

absl::Status While(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  Values state;
  std::string list;
  OpText op;
  for (size_t n = 0; n < operands.size(); ++n) {
    ASSIGN_OR_RETURN(const std::string init, w.Use(operands[n]));
    state.push_back(w.NewArgument(*results[n]));
    absl::StrAppend(&list, n == 0 ? "" : ", ", state[n].name, " = ", init);
  }
  op.head = absl::StrCat("stablehlo.while(", list, ")");
  if (!operands.empty()) {
    ASSIGN_OR_RETURN(op.types, w.Types(state));
    op.types = op.types.substr(1, op.types.size() - 2);
  }
  op.attributes_behind = true;
  ASSIGN_OR_RETURN(const std::string condition,
                   w.Region(*i.while_condition(), &state));
  ASSIGN_OR_RETURN(const std::string body, w.Region(*i.while_body(), &state));
  op.tail = absl::StrCat("\n", w.indent(), "cond ", condition, " do ", body);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// Branches have no arguments: they mention the values from outside.
absl::Status Conditional(const Instruction& i, Writer& w) {
  const Value selector = w.ValuesOf(i.operand(0))[0];
  std::vector<std::string> regions;
  for (size_t b = 0; b < i.called().size(); ++b) {
    const Values given = w.ValuesOf(i.operand(static_cast<int>(b) + 1));
    ASSIGN_OR_RETURN(std::string region, w.Region(*i.called()[b], &given));
    regions.push_back(std::move(region));
  }
  const bool is_if = selector.shape->type() == PrimitiveType::kPred;
  ASSIGN_OR_RETURN(Values made,
                   w.EmitGeneric(&i, is_if ? "stablehlo.if" : "stablehlo.case",
                                 {selector}, {}, regions, LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Barrier(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  if (operands.empty()) {
    w.Define(i, {});
    return absl::OkStatus();
  }
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.optimization_barrier ", names);
  ASSIGN_OR_RETURN(op.types, w.Types(operands));
  op.types = op.types.substr(1, op.types.size() - 2);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status AfterAll(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = operands.empty() ? "stablehlo.create_token"
                             : absl::StrCat("stablehlo.after_all ", names);
  op.types = "!stablehlo.token";
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// The value passes a barrier together with the token.
absl::Status AddDependency(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  std::vector<const Shape*> results;
  for (const Value& v : operands) results.push_back(v.shape);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.optimization_barrier ", names);
  ASSIGN_OR_RETURN(op.types, w.Types(operands));
  op.types = op.types.substr(1, op.types.size() - 2);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  made.pop_back();
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// A copy, a domain: the value itself.
absl::Status Same(const Instruction& i, Writer& w) {
  w.Define(i, w.ValuesOf(i.operand(0)));
  return absl::OkStatus();
}

absl::Status RngBitGenerator(const Instruction& i, Writer& w) {
  const auto algorithm = i.attrs<RngBitGeneratorAttrs>().algorithm;
  const absl::string_view word =
      algorithm == RngAlgorithm::kThreeFry ? "THREE_FRY"
      : algorithm == RngAlgorithm::kPhilox ? "PHILOX"
                                           : "DEFAULT";
  const Values operands = w.OperandValues(i);
  std::vector<const Shape*> results = LeavesOf(i.shape());
  // Without the new state in its result it still has one.
  const bool has_state = i.shape().IsTuple();
  if (!has_state) results.insert(results.begin(), operands[0].shape);
  OpText op;
  ASSIGN_OR_RETURN(const std::string state, w.Use(operands[0]));
  op.head = absl::StrCat("stablehlo.rng_bit_generator ", state,
                         ", algorithm = ", word);
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  if (!has_state) made.erase(made.begin());
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// Its shape is a third operand.
absl::Status Rng(const Instruction& i, Writer& w) {
  Values operands = w.OperandValues(i);
  const Shape* vector =
      w.Keep(Shape::Array(PrimitiveType::kS64, {i.shape().rank()}));
  Literal dims(*vector);
  for (int d = 0; d < i.shape().rank(); ++d) dims.SetInt(d, i.shape().dim(d));
  ASSIGN_OR_RETURN(const std::string text, DenseText(dims));
  const std::vector<const Shape*> one = {vector};
  ASSIGN_OR_RETURN(
      const Values shape,
      w.Emit(nullptr, OpText(absl::StrCat("stablehlo.constant ", text)), one));
  operands.push_back(shape[0]);
  const bool normal =
      i.attrs<RngAttrs>().distribution == RngDistribution::kNormal;
  ASSIGN_OR_RETURN(
      Values made,
      w.EmitGeneric(
          &i, "stablehlo.rng", operands,
          {absl::StrCat("rng_distribution = #stablehlo<rng_distribution ",
                        normal ? "NORMAL" : "UNIFORM", ">")},
          {}, LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

constexpr EmitterRow kControlEmitters[] = {
    {Opcode::kAddDependency, AddDependency},
    {Opcode::kAfterAll, AfterAll},
    {Opcode::kCall, Call},
    {Opcode::kConditional, Conditional},
    {Opcode::kCopy, Same},
    {Opcode::kCustomCall, EmitCustomCall},
    {Opcode::kDomain, Same},
    {Opcode::kFusion, Call},
    {Opcode::kOptimizationBarrier, Barrier},
    {Opcode::kRng, Rng},
    {Opcode::kRngBitGenerator, RngBitGenerator},
    {Opcode::kWhile, While},
};

}  // namespace

absl::Span<const EmitterRow> ControlEmitters() { return kControlEmitters; }

}  // namespace ptxla::hlo::mlir
