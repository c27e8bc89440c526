// Calls, loops, branches, tuples, custom calls, random numbers.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

Result Call(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  const Attr* callee = op.Find("callee");
  if (callee == nullptr) return absl::InvalidArgumentError("it calls nothing");
  if (c.refining()) return c.Inline(callee->text, operands, scope);
  ASSIGN_OR_RETURN(Computation * function, c.Function(callee->text));
  return scope->builder.Make(Opcode::kCall, operands, CallAttrs{}, {function});
}

// A call of its decomposition that keeps its name and attributes.
Result Composite(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  const Attr* name = op.Find("name");
  const Attr* callee = FindAny(op.attributes, {"decomposition", "callee"});
  if (name == nullptr || callee == nullptr) {
    return absl::InvalidArgumentError("it has a name and a decomposition");
  }
  if (c.refining()) return c.Inline(callee->text, operands, scope);
  ASSIGN_OR_RETURN(Computation * function, c.Function(callee->text));
  CallAttrs attrs;
  attrs.is_composite = true;
  ASSIGN_OR_RETURN(
      Instruction * call,
      scope->builder.Make(Opcode::kCall, operands, attrs, {function}));
  auto& frontend = call->mutable_extras()->frontend_attributes;
  const Attr* attributes = op.Find("composite_attributes");
  frontend["composite.attributes"] =
      attributes == nullptr ? "{}" : AttrText(*attributes);
  frontend["composite.name"] = name->text;
  frontend["composite.version"] =
      absl::StrCat(IntOr(op.attributes, {"version"}, 0));
  return call;
}

Result While(const Op& op, Converter& c, Scope* scope) {
  if (op.regions.size() != 2) {
    return absl::InvalidArgumentError("a loop has a condition and a body");
  }
  ASSIGN_OR_RETURN(auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const auto captured, c.Captured(op, scope));
  std::vector<Shape> shapes;
  for (const Instruction* o : operands) shapes.push_back(o->shape());
  ASSIGN_OR_RETURN(Computation * condition,
                   c.TupleRegion(op.regions[0], shapes, captured, false, scope,
                                 "while_condition"));
  ASSIGN_OR_RETURN(Computation * body,
                   c.TupleRegion(op.regions[1], shapes, captured, true, scope,
                                 "while_body"));
  Builder& b = scope->builder;
  const int64_t count = static_cast<int64_t>(operands.size());
  for (const auto& [key, value] : captured) operands.push_back(value);
  Instruction* init = operands.size() == 1 ? operands[0] : b.Tuple(operands);
  ASSIGN_OR_RETURN(Instruction * loop,
                   b.Make(Opcode::kWhile, {init}, {}, {body, condition}));
  if (captured.empty()) return loop;
  // Without what it only took along.
  std::vector<Instruction*> results;
  for (int64_t i = 0; i < count; ++i) {
    results.push_back(b.GetTupleElement(loop, i));
  }
  return count == 1 ? results[0] : b.Tuple(results);
}

Result Conditional(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * selector, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const auto captured, c.Captured(op, scope));
  Builder& b = scope->builder;
  std::vector<Instruction*> values;
  for (const auto& [key, value] : captured) values.push_back(value);
  Instruction* argument = values.size() == 1 ? values[0] : b.Tuple(values);
  std::vector<Instruction*> operands = {selector};
  std::vector<Computation*> branches;
  for (const Region& region : op.regions) {
    ASSIGN_OR_RETURN(
        Computation * branch,
        c.TupleRegion(region, {}, captured, false, scope, "branch"));
    branches.push_back(branch);
    operands.push_back(argument);
  }
  return b.Make(Opcode::kConditional, operands, {}, branches);
}

Result Tuple(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(Opcode::kTuple, operands);
}

Result GetTupleElement(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * tuple, c.Operand(op, 0, scope));
  TupleIndexAttrs attrs;
  ASSIGN_OR_RETURN(attrs.index, Int(op.attributes, {"index"}));
  return scope->builder.Make(Opcode::kGetTupleElement, {tuple}, attrs);
}

Result Barrier(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  Builder& b = scope->builder;
  return b.OptimizationBarrier(operands.size() == 1 ? operands[0]
                                                    : b.Tuple(operands));
}

Result AfterAll(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(Opcode::kAfterAll, operands);
}

Result Rng(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * a, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(Instruction * b, c.Operand(op, 1, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  RngAttrs attrs;
  const std::string word =
      EnumWord(op.attributes, {"rng_distribution", "distribution"});
  attrs.distribution =
      word == "NORMAL" ? RngDistribution::kNormal : RngDistribution::kUniform;
  return scope->builder.Make(Opcode::kRng, {a, b}, attrs, {}, &shape);
}

Result RngBitGenerator(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.AllResults(op));
  RngBitGeneratorAttrs attrs;
  const std::string word =
      EnumWord(op.attributes, {"rng_algorithm", "algorithm"});
  attrs.algorithm = word == "THREE_FRY" ? RngAlgorithm::kThreeFry
                    : word == "PHILOX"  ? RngAlgorithm::kPhilox
                                        : RngAlgorithm::kDefault;
  return scope->builder.Make(Opcode::kRngBitGenerator, operands, attrs, {},
                             &shape);
}

// operand_layouts = [dense<[1, 0]> : tensor<2xindex>]: minor to major.
absl::Status SetLayout(const Attr& order, Shape* shape) {
  DimVector dims;
  if (order.dense != nullptr && !order.dense->IsElided()) {
    for (int64_t i = 0; i < order.dense->ElementCount(); ++i) {
      dims.push_back(order.dense->GetInt(i));
    }
  }
  if (shape->IsToken() && dims.empty()) return absl::OkStatus();
  if (!shape->IsArray() || static_cast<int>(dims.size()) != shape->rank()) {
    return absl::InvalidArgumentError("a layout does not fit its tensor");
  }
  DimVector sorted = dims;
  std::sort(sorted.begin(), sorted.end());
  for (int d = 0; d < shape->rank(); ++d) {
    if (sorted[d] != d) {
      return absl::InvalidArgumentError("a layout is no permutation");
    }
  }
  shape->mutable_layout()->minor_to_major = dims;
  return absl::OkStatus();
}

absl::Status Layouts(const Op& op, CustomCallAttrs* attrs,
                     const std::vector<Instruction*>& operands, Shape* result) {
  const Attr* of_operands = op.Find("operand_layouts");
  const Attr* of_results = op.Find("result_layouts");
  if (of_operands == nullptr || of_operands->list.size() != operands.size()) {
    return absl::OkStatus();
  }
  auto& list = attrs->operand_layout_constraints.emplace();
  for (size_t i = 0; i < operands.size(); ++i) {
    Shape shape = operands[i]->shape();
    RETURN_IF_ERROR(SetLayout(of_operands->list[i], &shape));
    list.push_back(std::move(shape));
  }
  if (of_results == nullptr) return absl::OkStatus();
  const size_t leaves =
      result->IsTuple() ? result->element_count_of_tuple() : 1;
  for (size_t i = 0; i < of_results->list.size() && i < leaves; ++i) {
    Shape* leaf = result->IsTuple()
                      ? result->mutable_element(static_cast<int>(i))
                      : result;
    RETURN_IF_ERROR(SetLayout(of_results->list[i], leaf));
  }
  return absl::OkStatus();
}

absl::Status Aliases(const Op& op, CustomCallAttrs* attrs) {
  const Attr* list = op.Find("output_operand_aliases");
  if (list == nullptr) return absl::OkStatus();
  for (const Attr& one : list->list) {
    ASSIGN_OR_RETURN(const AttrDict f, Fields(one));
    OutputOperandAlias alias;
    ASSIGN_OR_RETURN(const DimVector output,
                     IntsOr(f, {"output_tuple_indices"}, {}));
    ASSIGN_OR_RETURN(const DimVector operand,
                     IntsOr(f, {"operand_tuple_indices"}, {}));
    alias.output.assign(output.begin(), output.end());
    alias.operand = IntOr(f, {"operand_index"}, 0);
    alias.operand_index.assign(operand.begin(), operand.end());
    attrs->aliasing.push_back(std::move(alias));
  }
  return absl::OkStatus();
}

// `custom_call @mhlo.erf(...) {mhlo.attributes = {...}}` is how exporters
// write operations that StableHLO does not have, `@ragged_all_to_all` another.
bool AsOperation(const Op& op, const std::string& target,
                 const std::vector<Shape>& results, Op* operation) {
  const Attr* attributes = nullptr;
  if (target == "ragged_all_to_all") {
    operation->name = target;
    attributes =
        FindAny(op.attributes, {"mhlo.backend_config", "backend_config"});
  } else if (target.rfind("mhlo.", 0) == 0) {
    operation->name = absl::StrCat("stablehlo.", target.substr(5));
    attributes = op.Find("mhlo.attributes");
  }
  if (FindHandler(operation->name) == nullptr) return false;
  operation->position = op.position;
  operation->operands = op.operands;
  operation->operand_types = op.operand_types;
  operation->result_types = op.result_types;
  for (size_t i = 0; i < results.size(); ++i) {
    operation->result_types[i].shape = results[i];
  }
  if (attributes != nullptr) operation->attributes = attributes->dict;
  return true;
}

Result CustomCall(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(Shape shape, c.AllResults(op));
  CustomCallAttrs attrs;
  attrs.target = EnumWord(op.attributes, {"call_target_name"});
  Op operation;
  const std::vector<Shape> results =
      shape.IsTuple()
          ? std::vector<Shape>(shape.elements().begin(), shape.elements().end())
          : std::vector<Shape>{shape};
  if (AsOperation(op, attrs.target, results, &operation)) {
    return FindHandler(operation.name)(operation, c, scope);
  }
  attrs.has_side_effect = BoolOr(op.attributes, {"has_side_effect"}, false);
  const int64_t api = IntOr(op.attributes, {"api_version"}, 0);
  if (api >= 0 && api < static_cast<int64_t>(std::size(kCustomCallApis))) {
    attrs.api_version = static_cast<CustomCallApi>(api);
  }
  if (attrs.api_version == CustomCallApi::kOriginal) {
    attrs.api_version = CustomCallApi::kUnspecified;
  }
  RETURN_IF_ERROR(Layouts(op, &attrs, operands, &shape));
  RETURN_IF_ERROR(Aliases(op, &attrs));
  std::vector<Computation*> called;
  if (const Attr* list = op.Find("called_computations")) {
    for (const Attr& name : list->list) {
      ASSIGN_OR_RETURN(Computation * function, c.Function(name.text));
      called.push_back(function);
    }
  }
  ASSIGN_OR_RETURN(
      Instruction * call,
      scope->builder.Make(Opcode::kCustomCall, operands,
                          Boxed<CustomCallAttrs>(attrs), called, &shape));
  const Attr* config =
      FindAny(op.attributes, {"mhlo.backend_config", "backend_config"});
  if (config != nullptr) {
    const std::string value =
        config->kind == Attr::Kind::kString ? config->text : AttrText(*config);
    if (!value.empty()) {
      call->set_backend_config(value, config->kind == Attr::Kind::kDict);
    }
  }
  if (const Attr* kernel = op.Find("kernel_name")) {
    call->mutable_extras()->frontend_attributes["kernel_name"] = kernel->text;
  }
  // ByteIR's parameters: byteir_attrs = {axis = 3 : i64}.
  if (const Attr* parameters = op.Find("byteir_attrs")) {
    for (const auto& [name, value] : parameters->dict) {
      call->mutable_extras()->frontend_attributes[name] =
          value.kind == Attr::Kind::kString ? value.text : AttrText(value);
    }
  }
  return call;
}

constexpr HandlerRow kControlHandlers[] = {
    {"func.call", Call},
    {"stablehlo.after_all", AfterAll},
    {"stablehlo.case", Conditional},
    {"stablehlo.composite", Composite},
    {"stablehlo.create_token", AfterAll},
    {"stablehlo.custom_call", CustomCall},
    {"stablehlo.get_tuple_element", GetTupleElement},
    {"stablehlo.if", Conditional},
    {"stablehlo.optimization_barrier", Barrier},
    {"stablehlo.rng", Rng},
    {"stablehlo.rng_bit_generator", RngBitGenerator},
    {"stablehlo.tuple", Tuple},
    {"stablehlo.while", While},
};

}  // namespace

absl::Span<const HandlerRow> ControlHandlers() { return kControlHandlers; }

}  // namespace ptxla::hlo::mlir
