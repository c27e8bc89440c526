// Functions, regions and values.
#include "hlo_backend/stablehlo/converter.h"

#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/lexer.h"
#include "hlo_backend/stablehlo/locations.h"
#include "hlo_backend/stablehlo/static_forms.h"

namespace ptxla::hlo::mlir {
namespace {

// "12:7: ..." stands in front already.
bool HasPlace(absl::string_view message) {
  for (int n = 0; n < 2; ++n) {
    const size_t colon = message.find(':');
    if (colon == 0 || colon == absl::string_view::npos) return false;
    for (const char c : message.substr(0, colon)) {
      if (!absl::ascii_isdigit(c)) return false;
    }
    message.remove_prefix(colon + 1);
  }
  return true;
}

// "12:7: stablehlo.add" in front of an error that has no position yet.
absl::Status AtOp(const Op& op, const absl::Status& status) {
  if (status.ok() || HasPlace(status.message())) return status;
  // What is made around a file without a module begins where the file does.
  const int line = std::max(op.position.line, 1);
  const int column = std::max(op.position.column, 1);
  return AddContext(status, absl::StrCat(line, ":", column, ": ", op.name));
}

// Symbols may hold what names of HLO may not: @"<lambda>", @"-main".
std::string HloName(std::string name) {
  if (name.empty()) return "function";
  for (char& c : name) {
    if (!absl::ascii_isalnum(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  return IsName(name) ? name : absl::StrCat("_", name);
}

bool IsTerminator(const Op& op) {
  return op.name == "func.return" || op.name == "stablehlo.return" ||
         op.name == "sdy.return";
}

}  // namespace

absl::StatusOr<Instruction*> Converter::Lookup(ValueRef ref, Scope* scope) {
  auto it = scope->values.find({ref.name, ref.index});
  if (it != scope->values.end()) return it->second;
  if (scope->outer == nullptr) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown value ", ref.name, ref.index > 0 ? "#" : "",
                     ref.index > 0 ? absl::StrCat(ref.index) : ""));
  }
  ASSIGN_OR_RETURN(Instruction * outside, Lookup(ref, scope->outer));
  if (!outside->IsConstant()) {
    return absl::UnimplementedError(
        absl::StrCat("the region uses ", ref.name,
                     " from outside, which HLO allows in "
                     "while, if and case only"));
  }
  Instruction* copy = scope->builder.Constant(outside->literal());
  scope->values[{ref.name, ref.index}] = copy;
  return copy;
}

absl::StatusOr<Instruction*> Converter::Operand(const Op& op, int i,
                                                Scope* scope) {
  if (i >= static_cast<int>(op.operands.size())) {
    return absl::InvalidArgumentError(
        absl::StrCat("it has only ", op.operands.size(), " operands"));
  }
  return Lookup(op.operands[i], scope);
}

absl::StatusOr<std::vector<Instruction*>> Converter::Operands(const Op& op,
                                                              Scope* scope) {
  std::vector<Instruction*> operands;
  for (const ValueRef& ref : op.operands) {
    ASSIGN_OR_RETURN(Instruction * operand, Lookup(ref, scope));
    operands.push_back(operand);
  }
  return operands;
}

absl::StatusOr<Shape> Converter::ResultShape(const Op& op, int i) {
  if (i >= static_cast<int>(op.result_types.size())) {
    return absl::InvalidArgumentError("its result has no type");
  }
  const Type& type = op.result_types[i];
  if (type.shape.type() == PrimitiveType::kInvalid) {
    return absl::UnimplementedError(
        absl::StrCat("HLO has no type ", type.text));
  }
  if (const auto it = refined_.find(&op); it != refined_.end()) {
    return it->second[i];
  }
  return type.shape;
}

absl::StatusOr<Shape> Converter::AllResults(const Op& op) {
  if (op.result_types.size() == 1) return ResultShape(op);
  std::vector<Shape> shapes;
  for (size_t i = 0; i < op.result_types.size(); ++i) {
    ASSIGN_OR_RETURN(Shape shape, ResultShape(op, static_cast<int>(i)));
    shapes.push_back(std::move(shape));
  }
  return Shape::Tuple(std::move(shapes));
}

absl::Status Converter::ConvertOp(const Op& op, Scope* scope) {
  SetLocation(op.location, scope);
  if (refining() && op.name == "stablehlo.custom_call" &&
      EnumWord(op.attributes, {"call_target_name"}) == "shape_assertion") {
    return CheckAssertion(op, scope);
  }
  std::optional<Op> form;
  if (MayBeDynamic(op)) {
    ASSIGN_OR_RETURN(const auto operands, Operands(op, scope));
    form = StaticForm(op, operands);
  }
  ASSIGN_OR_RETURN(Instruction * made,
                   Made(form.has_value() ? *form : op, scope));
  if (op.name == "stablehlo.async_start") {
    // Its type is a future: what the start gives in HLO says more.
    for (const auto& [name, number] : op.results) {
      scope->values[{name, 0}] = made;
    }
    return absl::OkStatus();
  }
  size_t count = 0;
  for (const auto& [name, number] : op.results) count += number;
  ASSIGN_OR_RETURN(const Shape wanted, AllResults(op));
  if (count == 0) return absl::OkStatus();
  if (count != op.result_types.size()) {
    return absl::InvalidArgumentError(absl::StrCat(
        op.result_types.size(), " results cannot have ", count, " names"));
  }
  if (!made->shape().SameDimsAndType(wanted)) {
    auto joined = Joined(made->shape(), wanted);
    if (!joined.has_value()) {
      return absl::InvalidArgumentError(
          absl::StrCat("its result is ", made->shape().ToString(),
                       ", its type says ", wanted.ToString()));
    }
    *made->mutable_shape() = *std::move(joined);
  }
  ASSIGN_OR_RETURN(auto sharding,
                   ShardingOf(op.attributes, static_cast<int>(count)));
  if (sharding != nullptr && made->sharding() == nullptr) {
    made->set_sharding(*sharding);
  }
  // What a tuple only collects has them already.
  if (op.Find("mhlo.frontend_attributes") != nullptr &&
      made->opcode() != Opcode::kTuple) {
    RETURN_IF_ERROR(AddFrontendAttributes(
        op.attributes, &made->mutable_extras()->frontend_attributes));
  }
  const bool is_tuple = count > 1;
  int i = 0;
  for (const auto& [name, number] : op.results) {
    for (int n = 0; n < number; ++n, ++i) {
      // Constants stay in sight.
      const bool in_sight = refining() && made->opcode() == Opcode::kTuple;
      scope->values[{name, n}] = !is_tuple ? made
                                 : in_sight
                                     ? made->operand(i)
                                     : scope->builder.GetTupleElement(made, i);
    }
  }
  return absl::OkStatus();
}

absl::Status Converter::Body(const Region& region, Scope* scope,
                             std::vector<Instruction*>* results) {
  for (const Op& op : region.ops) {
    if (IsTerminator(op)) {
      auto operands = Operands(op, scope);
      if (!operands.ok()) return AtOp(op, operands.status());
      *results = *std::move(operands);
      return absl::OkStatus();
    }
    RETURN_IF_ERROR(AtOp(op, ConvertOp(op, scope)));
  }
  return absl::InvalidArgumentError("a region without a return");
}

absl::Status Converter::ConvertFunction(const Op& function,
                                        Computation* computation) {
  if (function.regions.empty()) {
    return absl::UnimplementedError("a function without a body");
  }
  const Region& region = function.regions[0];
  Scope scope(computation, nullptr);
  for (size_t n = 0; n < region.arguments.size(); ++n) {
    const BlockArgument& a = region.arguments[n];
    if (a.type.shape.type() == PrimitiveType::kInvalid) {
      return absl::UnimplementedError(
          absl::StrCat("HLO has no type ", a.type.text));
    }
    SetLocation(a.location, &scope);
    Instruction* parameter = scope.builder.Parameter(
        static_cast<int64_t>(n),
        &function == main_ && refining() ? main_arguments_[n] : a.type.shape,
        absl::StrCat("Arg_", n));
    ASSIGN_OR_RETURN(auto sharding, ShardingOf(a.attributes, 1));
    if (sharding != nullptr) parameter->set_sharding(*sharding);
    scope.values[{a.name, 0}] = parameter;
  }
  std::vector<Instruction*> results;
  RETURN_IF_ERROR(Body(region, &scope, &results));
  scope.builder.set_metadata(nullptr);
  if (results.size() == 1) {
    computation->SetRoot(results[0]);
    return absl::OkStatus();
  }
  Instruction* root = scope.builder.Tuple(results);
  computation->SetRoot(root);
  // The shardings of the results, if all have one.
  std::vector<Sharding> shardings;
  for (const AttrDict& attributes : function.result_attributes) {
    ASSIGN_OR_RETURN(auto sharding, ShardingOf(attributes, 1));
    if (sharding != nullptr) shardings.push_back(*sharding);
  }
  if (!shardings.empty() && shardings.size() == results.size()) {
    root->set_sharding(Sharding::Tuple(std::move(shardings)));
  }
  return absl::OkStatus();
}

absl::StatusOr<Computation*> Converter::Function(const std::string& name) {
  auto it = functions_.find(name);
  if (it == functions_.end()) {
    return absl::InvalidArgumentError(absl::StrCat("no function @", name));
  }
  FunctionState& state = it->second;
  if (state.computation != nullptr) return state.computation;
  if (state.in_progress) {
    return absl::UnimplementedError(absl::StrCat("@", name, " calls itself"));
  }
  state.in_progress = true;
  Computation* computation =
      module_->AddComputationWithExactName(state.hlo_name);
  RETURN_IF_ERROR(AtOp(*state.op, ConvertFunction(*state.op, computation)));
  state.computation = computation;
  return computation;
}

absl::StatusOr<std::unique_ptr<Module>> Converter::Convert(const Op& module) {
  RETURN_IF_ERROR(AtOp(module, Header(module)));
  std::string main = "main";
  bool has_body = false;
  for (const Op& op : module.regions[0].ops) {
    if (op.name == "func.func") {
      const Attr* name = op.Find("sym_name");
      if (name == nullptr) {
        return AtOp(op, absl::InvalidArgumentError("a function has a name"));
      }
      // Without @main the first one that is no declaration.
      if (!has_body && !op.regions.empty()) {
        main = name->text;
        has_body = true;
      }
      if (!functions_.emplace(name->text, FunctionState{&op, ""}).second) {
        return AtOp(op, absl::InvalidArgumentError(absl::StrCat(
                            "the function @", name->text, " exists already")));
      }
    } else if (op.name != "sdy.mesh") {
      return AtOp(op, absl::UnimplementedError("this is no function"));
    }
  }
  if (functions_.contains("main")) main = "main";
  // Functions keep their names; computations of regions get others.
  absl::flat_hash_set<std::string> taken;
  for (const Op& op : module.regions[0].ops) {
    if (op.name != "func.func") continue;
    const std::string& name = op.Find("sym_name")->text;
    std::string hlo_name = HloName(name);
    if (taken.insert(hlo_name).second) {
      module_->ReserveName(hlo_name);
    } else {
      hlo_name = module_->UniqueName(hlo_name);
    }
    functions_[name].hlo_name = std::move(hlo_name);
  }
  if (functions_.empty() || !functions_.contains(main)) {
    return AtOp(module,
                absl::InvalidArgumentError("the module has no function"));
  }
  main_ = functions_[main].op;
  RETURN_IF_ERROR(AtOp(*main_, SetSizes(*main_)));
  ASSIGN_OR_RETURN(Computation * entry, Function(main));
  module_->SetEntry(entry);
  if (refining()) {
    for (Computation* c : module_->computations()) c->RemoveDead();
    module_->RemoveUnusedComputations();
  }
  const Op& function = *functions_[main].op;
  RETURN_IF_ERROR(AtOp(function, EntryAttributes(function)));
  return std::move(module_);
}

void Converter::SetLocation(const std::string& location, Scope* scope) const {
  std::shared_ptr<const Metadata> shared;
  if (!location.empty()) {
    Metadata metadata = ReadLocation(location, locations_);
    if (!metadata.empty()) {
      shared = std::make_shared<const Metadata>(std::move(metadata));
    }
  }
  scope->builder.set_metadata(std::move(shared));
}

}  // namespace ptxla::hlo::mlir
