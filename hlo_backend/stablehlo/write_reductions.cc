// Operations with a region that combines scalars, and batch normalisation.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// The one operation of a computation `f(x, y) -> x op y` in StableHLO's words;
// "": it does something else.
std::string AppliedName(const Computation& c) {
  const Instruction* root = c.root();
  if (c.instruction_count() != 3 || c.parameter_count() != 2 ||
      root->operand_count() != 2 || root->operand(0) != c.parameter(0) ||
      root->operand(1) != c.parameter(1) || root->has_extras() ||
      !root->shape().IsScalar()) {
    return "";
  }
  switch (root->opcode()) {
    case Opcode::kAdd:
    case Opcode::kAnd:
    case Opcode::kMaximum:
    case Opcode::kMinimum:
    case Opcode::kMultiply:
    case Opcode::kOr:
    case Opcode::kXor:
      break;
    default:
      return "";
  }
  const PrimitiveType type = root->shape().type();
  for (int p : {0, 1}) {
    if (c.parameter(p)->shape().type() != type) return "";
  }
  return absl::StrCat("stablehlo.", OpcodeName(root->opcode()));
}

absl::Status Reduce(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  const size_t count = operands.size() / 2;
  OpText op;
  op.head = "stablehlo.reduce";
  for (size_t n = 0; n < count; ++n) {
    ASSIGN_OR_RETURN(const std::string x, w.Use(operands[n]));
    ASSIGN_OR_RETURN(const std::string init, w.Use(operands[n + count]));
    absl::StrAppend(&op.head, n == 0 ? "(" : ", (", x, " init: ", init, ")");
  }
  // The short form says one type for all.
  const PrimitiveType type =
      i.shape().IsArray() ? i.shape().type() : PrimitiveType::kInvalid;
  const std::string applied = count == 1 && operands[0].shape->type() == type &&
                                      operands[1].shape->type() == type
                                  ? AppliedName(*i.to_apply())
                                  : "";
  if (!applied.empty()) absl::StrAppend(&op.head, " applies ", applied);
  absl::StrAppend(&op.head, " across dimensions = ", ListText(i.dimensions()));
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  if (applied.empty()) {
    // reducer(%a: T, %b: T) (...): the arguments in pairs.
    Values arguments;
    for (const Instruction* p : i.to_apply()->parameters()) {
      arguments.push_back(w.NewArgument(p->shape()));
    }
    absl::StrAppend(&op.tail, "\n", w.indent(), " reducer");
    for (size_t n = 0; n < count; ++n) {
      ASSIGN_OR_RETURN(const std::string type, TypeText(*arguments[n].shape));
      ASSIGN_OR_RETURN(const std::string other,
                       TypeText(*arguments[n + count].shape));
      absl::StrAppend(&op.tail, n == 0 ? "(" : " (", arguments[n].name, ": ",
                      type, ", ", arguments[n + count].name, ": ", other, ")");
    }
    ASSIGN_OR_RETURN(const std::string region,
                     w.Region(*i.to_apply(), &arguments));
    absl::StrAppend(&op.tail, " ", region);
  }
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

struct WindowLists {
  DimVector size, stride, base, dilation, padding;
};

absl::StatusOr<WindowLists> ListsOf(const Window& window) {
  WindowLists l;
  for (const WindowDim& d : window.dims) {
    if (d.reversal) {
      return absl::UnimplementedError("StableHLO has no reversed window here");
    }
    l.size.push_back(d.size);
    l.stride.push_back(d.stride);
    l.base.push_back(d.base_dilation);
    l.dilation.push_back(d.window_dilation);
    l.padding.push_back(d.padding_low);
    l.padding.push_back(d.padding_high);
  }
  return l;
}

absl::Status ReduceWindow(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const WindowLists l, ListsOf(i.attrs<WindowAttrs>().window));
  ASSIGN_OR_RETURN(const std::string region, w.Region(*i.to_apply()));
  return EmitSame(i, w, "stablehlo.reduce_window",
                  {absl::StrCat("base_dilations = ", ArrayText(l.base)),
                   absl::StrCat("padding = ", RowsText(l.padding, 2)),
                   absl::StrCat("window_dilations = ", ArrayText(l.dilation)),
                   absl::StrCat("window_dimensions = ", ArrayText(l.size)),
                   absl::StrCat("window_strides = ", ArrayText(l.stride))},
                  {region});
}

absl::Status SelectAndScatter(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const WindowLists l, ListsOf(i.attrs<WindowAttrs>().window));
  for (const WindowDim& d : i.attrs<WindowAttrs>().window.dims) {
    if (d.base_dilation != 1 || d.window_dilation != 1) {
      return absl::UnimplementedError(
          "StableHLO's select_and_scatter has no dilation");
    }
  }
  ASSIGN_OR_RETURN(const std::string select, w.Region(*i.select()));
  ASSIGN_OR_RETURN(const std::string scatter, w.Region(*i.scatter()));
  return EmitSame(i, w, "stablehlo.select_and_scatter",
                  {absl::StrCat("padding = ", RowsText(l.padding, 2)),
                   absl::StrCat("window_dimensions = ", ArrayText(l.size)),
                   absl::StrCat("window_strides = ", ArrayText(l.stride))},
                  {select, scatter});
}

absl::Status Sort(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<SortAttrs>();
  ASSIGN_OR_RETURN(const std::string region, w.Region(*i.to_apply()));
  return EmitSame(
      i, w, "stablehlo.sort",
      {IntEntry("dimension", a.dimension), BoolEntry("is_stable", a.is_stable)},
      {region});
}

absl::Status Map(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const std::string region, w.Region(*i.to_apply()));
  return EmitSame(i, w, "stablehlo.map",
                  {absl::StrCat("dimensions = ", ArrayText(i.dimensions()))},
                  {region});
}

absl::Status BatchNorm(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<BatchNormAttrs>();
  const std::string name =
      absl::StrReplaceAll(OpcodeName(i.opcode()), {{"-", "_"}});
  return EmitSame(
      i, w, absl::StrCat("stablehlo.", name),
      {absl::StrCat("epsilon = ",
                    FloatText(Literal::Scalar<float>(a.epsilon), 0), " : f32"),
       IntEntry("feature_index", a.feature_index)});
}

absl::Status TopK(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<TopKAttrs>();
  if (!i.shape().IsTuple() ||
      i.shape().element(1).type() != PrimitiveType::kS32) {
    return absl::UnimplementedError("chlo.top_k gives numbers as i32");
  }
  if (!a.largest) {  // XLA's own dialect has it
    return EmitSame(i, w, "mhlo.topk",
                    {absl::StrCat("k = ", a.k, " : i64"), "largest = false"});
  }
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("chlo.top_k(", names, ", k = ", a.k, ")");
  Values after;
  for (const Shape* shape : results) after.push_back({"", shape});
  ASSIGN_OR_RETURN(const std::string before, w.Types(operands, true));
  ASSIGN_OR_RETURN(const std::string behind, w.Types(after));
  op.types = absl::StrCat(before, " -> ", behind);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

constexpr EmitterRow kReductionsEmitters[] = {
    {Opcode::kBatchNormGrad, BatchNorm},
    {Opcode::kBatchNormInference, BatchNorm},
    {Opcode::kBatchNormTraining, BatchNorm},
    {Opcode::kMap, Map},
    {Opcode::kReduce, Reduce},
    {Opcode::kReduceWindow, ReduceWindow},
    {Opcode::kSelectAndScatter, SelectAndScatter},
    {Opcode::kSort, Sort},
    {Opcode::kTopK, TopK},
};

}  // namespace

absl::Span<const EmitterRow> ReductionEmitters() { return kReductionsEmitters; }

}  // namespace ptxla::hlo::mlir
