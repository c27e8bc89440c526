// Custom calls: the only operation whose operands and results may be tuples.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/value_parser.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// The value of an operand, put together if it is a tuple.
absl::StatusOr<Value> Whole(const Shape& shape, const Values& leaves,
                            size_t* next, Writer& w) {
  if (!shape.IsTuple()) return leaves[(*next)++];
  Values elements;
  for (const Shape& e : shape.elements()) {
    ASSIGN_OR_RETURN(Value element, Whole(e, leaves, next, w));
    elements.push_back(std::move(element));
  }
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(elements));
  op.head = absl::StrCat("stablehlo.tuple", names.empty() ? "" : " ", names);
  ASSIGN_OR_RETURN(op.types, TypeText(shape));
  const std::vector<const Shape*> result = {&shape};
  ASSIGN_OR_RETURN(const Values made, w.Emit(nullptr, std::move(op), result));
  return made[0];
}

// The leaves of a value of tuple type.
absl::Status TakeApart(const Value& value, Writer& w, Values* leaves) {
  if (!value.shape->IsTuple()) {
    leaves->push_back(value);
    return absl::OkStatus();
  }
  for (int e = 0; e < value.shape->element_count_of_tuple(); ++e) {
    const std::vector<const Shape*> result = {&value.shape->element(e)};
    ASSIGN_OR_RETURN(const std::string types, w.Signature({value}, result));
    ASSIGN_OR_RETURN(const Values made,
                     w.Emit(nullptr,
                            OpText(absl::StrCat("stablehlo.get_tuple_element ",
                                                value.name, "[", e, "]"),
                                   types),
                            result));
    RETURN_IF_ERROR(TakeApart(made[0], w, leaves));
  }
  return absl::OkStatus();
}

// One result of each element, unless that would hide a tuple.
std::vector<const Shape*> ResultsOf(const Shape& shape) {
  bool flat = shape.IsTuple() && shape.element_count_of_tuple() != 1;
  for (const Shape& e : shape.elements()) flat &= !e.IsTuple();
  if (flat) return LeavesOf(shape);
  return {&shape};
}

std::string LayoutText(const Shape& shape) {
  DimVector order;
  if (shape.IsArray()) {
    for (int d = shape.rank() - 1; d >= 0; --d) order.push_back(d);
    if (shape.has_layout()) {
      order.assign(shape.layout().minor_to_major.begin(),
                   shape.layout().minor_to_major.end());
    }
  }
  const std::string values = order.empty()       ? ""
                             : order.size() == 1 ? absl::StrCat(order[0])
                                                 : ListText(order);
  return absl::StrCat("dense<", values, "> : tensor<", order.size(), "xindex>");
}

void AddLayouts(const Instruction& i, const CustomCallAttrs& a, OpText* op) {
  if (!a.operand_layout_constraints.has_value()) return;
  std::vector<std::string> operands, results;
  for (const Shape& s : *a.operand_layout_constraints) {
    if (s.IsTuple()) return;
    operands.push_back(LayoutText(s));
  }
  for (const Shape* s : ResultsOf(i.shape())) {
    if (s->IsTuple()) return;
    results.push_back(LayoutText(*s));
  }
  op->attributes.push_back(
      absl::StrCat("operand_layouts = [", absl::StrJoin(operands, ", "), "]"));
  op->attributes.push_back(
      absl::StrCat("result_layouts = [", absl::StrJoin(results, ", "), "]"));
}

void AddAliases(const CustomCallAttrs& a, OpText* op) {
  if (a.aliasing.empty()) return;
  std::vector<std::string> list;
  for (const OutputOperandAlias& alias : a.aliasing) {
    list.push_back(absl::StrCat(
        "#stablehlo.output_operand_alias<output_tuple_indices = ",
        ListText(alias.output), ", operand_index = ", alias.operand,
        ", operand_tuple_indices = ", ListText(alias.operand_index), ">"));
  }
  op->attributes.push_back(absl::StrCat("output_operand_aliases = [",
                                        absl::StrJoin(list, ", "), "]"));
}

bool IsDictionary(const std::string& text) {
  if (text.empty() || text[0] != '{') return false;
  ValueParser parser{absl::string_view(text)};
  AttrDict dict;
  return parser.ParseDict(&dict) && parser.AtEnd();
}

void AddConfig(const Instruction& i, const CustomCallAttrs& a, OpText* op) {
  const std::string& config = i.backend_config();
  if (config.empty()) return;
  if (a.api_version != CustomCallApi::kTypedFfi) {
    op->attributes.push_back(absl::StrCat("backend_config = ", Quoted(config)));
  } else if (IsDictionary(config)) {
    op->attributes.push_back(absl::StrCat("backend_config = ", config));
  } else {  // this version wants a dictionary
    op->attributes.push_back(
        absl::StrCat("mhlo.backend_config = ", Quoted(config)));
  }
}

}  // namespace

absl::Status EmitCustomCall(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<CustomCallAttrs>();
  if (a.window.has_value() || a.conv_dims.has_value() || a.literal != nullptr) {
    return absl::UnimplementedError(
        "StableHLO's custom_call has no window, dimension labels or literal");
  }
  Values operands;
  for (const Instruction* operand : i.operands()) {
    size_t next = 0;
    ASSIGN_OR_RETURN(Value value, Whole(operand->shape(),
                                        Values(w.ValuesOf(operand)), &next, w));
    operands.push_back(std::move(value));
  }
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.custom_call ", SymbolText(a.target), "(",
                         names, ")");
  const int64_t api = static_cast<int64_t>(a.api_version);
  if (api > 1) op.attributes.push_back(IntEntry("api_version", api, "i32"));
  AddConfig(i, a, &op);
  if (!i.called().empty()) {
    std::vector<std::string> functions;
    for (const Computation* c : i.called()) {
      functions.push_back(w.FunctionName(*c));
    }
    op.attributes.push_back(absl::StrCat("called_computations = [",
                                         absl::StrJoin(functions, ", "), "]"));
  }
  if (a.has_side_effect) op.attributes.push_back("has_side_effect = true");
  AddLayouts(i, a, &op);
  AddAliases(a, &op);
  const std::vector<const Shape*> results = ResultsOf(i.shape());
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(const Values made, w.Emit(&i, std::move(op), results));
  Values leaves;
  for (const Value& value : made) {
    RETURN_IF_ERROR(TakeApart(value, w, &leaves));
  }
  w.Define(i, std::move(leaves));
  return absl::OkStatus();
}

}  // namespace ptxla::hlo::mlir
