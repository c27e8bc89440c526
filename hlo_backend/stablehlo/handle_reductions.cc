// Operations with a region that combines scalars, and batch normalisation.
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

Result Reduce(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  DimensionsAttrs attrs;
  ASSIGN_OR_RETURN(attrs.dimensions, Ints(op.attributes, {"dimensions"}));
  ASSIGN_OR_RETURN(Computation * combine,
                   c.RegionOf(op, 0, scope, "reduce_combine"));
  return scope->builder.Make(Opcode::kReduce, operands, attrs, {combine});
}

Result ReduceWindow(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const DimVector sizes,
                   Ints(op.attributes, {"window_dimensions"}));
  WindowAttrs attrs;
  ASSIGN_OR_RETURN(attrs.window, WindowOf(op.attributes, sizes));
  Computation* combine = nullptr;
  const Attr* called = op.Find("called_computations");
  if (op.regions.empty() && called != nullptr && called->list.size() == 1) {
    ASSIGN_OR_RETURN(combine, c.Function(called->list[0].text));
  } else {
    ASSIGN_OR_RETURN(combine, c.RegionOf(op, 0, scope, "window_combine"));
  }
  return scope->builder.Make(Opcode::kReduceWindow, operands,
                             Boxed<WindowAttrs>(attrs), {combine});
}

Result SelectAndScatter(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const DimVector sizes,
                   Ints(op.attributes, {"window_dimensions"}));
  WindowAttrs attrs;
  ASSIGN_OR_RETURN(attrs.window, WindowOf(op.attributes, sizes));
  ASSIGN_OR_RETURN(Computation * select, c.RegionOf(op, 0, scope, "select"));
  ASSIGN_OR_RETURN(Computation * scatter, c.RegionOf(op, 1, scope, "scatter"));
  return scope->builder.Make(Opcode::kSelectAndScatter, operands,
                             Boxed<WindowAttrs>(attrs), {select, scatter});
}

Result Sort(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  if (operands.empty()) return absl::InvalidArgumentError("nothing to sort");
  SortAttrs attrs;
  attrs.dimension = IntOr(op.attributes, {"dimension"}, -1);
  if (attrs.dimension < 0) attrs.dimension += operands[0]->shape().rank();
  attrs.is_stable = BoolOr(op.attributes, {"is_stable"}, false);
  ASSIGN_OR_RETURN(Computation * compare, c.RegionOf(op, 0, scope, "compare"));
  return scope->builder.Make(Opcode::kSort, operands, attrs, {compare});
}

Result Map(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  DimensionsAttrs attrs;
  ASSIGN_OR_RETURN(attrs.dimensions, Ints(op.attributes, {"dimensions"}));
  ASSIGN_OR_RETURN(Computation * fn, c.RegionOf(op, 0, scope, "map_fn"));
  return scope->builder.Make(Opcode::kMap, operands, attrs, {fn});
}

template <Opcode opcode>
Result BatchNorm(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  BatchNormAttrs attrs;
  attrs.epsilon = static_cast<float>(RealOr(op.attributes, {"epsilon"}, 0));
  ASSIGN_OR_RETURN(attrs.feature_index, Int(op.attributes, {"feature_index"}));
  return scope->builder.Make(opcode, operands, attrs);
}

Result TopK(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  TopKAttrs attrs;
  ASSIGN_OR_RETURN(attrs.k, Int(op.attributes, {"k"}));
  attrs.largest = BoolOr(op.attributes, {"largest"}, true);
  ASSIGN_OR_RETURN(const Shape shape, c.AllResults(op));
  return scope->builder.Make(Opcode::kTopK, operands, attrs, {}, &shape);
}

constexpr HandlerRow kReductionsHandlers[] = {
    {"stablehlo.batch_norm_grad", BatchNorm<Opcode::kBatchNormGrad>},
    {"stablehlo.batch_norm_inference", BatchNorm<Opcode::kBatchNormInference>},
    {"stablehlo.batch_norm_training", BatchNorm<Opcode::kBatchNormTraining>},
    {"stablehlo.map", Map},
    {"stablehlo.reduce", Reduce},
    {"stablehlo.reduce_window", ReduceWindow},
    {"stablehlo.select_and_scatter", SelectAndScatter},
    {"stablehlo.sort", Sort},
    {"stablehlo.topk", TopK},
    {"chlo.top_k", TopK},
};

}  // namespace

absl::Span<const HandlerRow> ReductionHandlers() { return kReductionsHandlers; }

}  // namespace ptxla::hlo::mlir
