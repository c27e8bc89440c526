// Operations that move data: broadcast, reshape, slices, gather, scatter.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

Result BroadcastInDim(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  ASSIGN_OR_RETURN(DimVector dims,
                   Ints(op.attributes, {"broadcast_dimensions", "dims"}));
  const int rank = x->shape().rank();
  if (static_cast<int>(dims.size()) != rank) {
    return absl::InvalidArgumentError(
        absl::StrCat(dims.size(), " dimensions for an operand of rank ", rank));
  }
  // HLO repeats along new dimensions only: those of size 1 that grow go first.
  DimVector kept, kept_dims;
  for (int d = 0; d < rank; ++d) {
    if (dims[d] < 0 || dims[d] >= shape.rank()) {
      return absl::InvalidArgumentError("a dimension is out of range");
    }
    if (x->shape().dim(d) == 1 && shape.dim(dims[d]) != 1) continue;
    kept.push_back(x->shape().dim(d));
    kept_dims.push_back(dims[d]);
  }
  Builder& b = scope->builder;
  if (static_cast<int>(kept.size()) != rank) {
    const Shape smaller = Shape::Array(x->shape().type(), kept);
    ASSIGN_OR_RETURN(
        x, b.Make(Opcode::kReshape, {x}, ReshapeAttrs{}, {}, &smaller));
  }
  DimensionsAttrs attrs;
  attrs.dimensions = kept_dims;
  return b.Make(Opcode::kBroadcast, {x}, attrs, {}, &shape);
}

Result Broadcast(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  DimensionsAttrs attrs;
  for (int d = 0; d < x->shape().rank(); ++d) {
    attrs.dimensions.push_back(shape.rank() - x->shape().rank() + d);
  }
  return scope->builder.Make(Opcode::kBroadcast, {x}, attrs, {}, &shape);
}

Result Reshape(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  return scope->builder.Make(Opcode::kReshape, {x}, ReshapeAttrs{}, {}, &shape);
}

template <Opcode opcode>
Result Dimensions(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  DimensionsAttrs attrs;
  ASSIGN_OR_RETURN(attrs.dimensions,
                   Ints(op.attributes, {"permutation", "dimensions",
                                        "dimension", "dims", "dim"}));
  return scope->builder.Make(opcode, operands, attrs);
}

Result Iota(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  IotaAttrs attrs;
  ASSIGN_OR_RETURN(attrs.dimension,
                   Int(op.attributes, {"iota_dimension", "dim"}));
  return scope->builder.Make(Opcode::kIota, {}, attrs, {}, &shape);
}

Result Slice(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  SliceAttrs attrs;
  ASSIGN_OR_RETURN(attrs.starts, Ints(op.attributes, {"start_indices"}));
  ASSIGN_OR_RETURN(attrs.limits, Ints(op.attributes, {"limit_indices"}));
  ASSIGN_OR_RETURN(attrs.strides, IntsOr(op.attributes, {"strides"},
                                         DimVector(attrs.starts.size(), 1)));
  if (attrs.limits.size() != attrs.starts.size() ||
      attrs.strides.size() != attrs.starts.size()) {
    return absl::InvalidArgumentError("starts, limits and strides differ");
  }
  return scope->builder.Make(Opcode::kSlice, {x}, Boxed<SliceAttrs>(attrs));
}

Result DynamicSlice(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  DynamicSliceAttrs attrs;
  ASSIGN_OR_RETURN(attrs.sizes, Ints(op.attributes, {"slice_sizes", "sizes"}));
  return scope->builder.Make(Opcode::kDynamicSlice, operands, attrs);
}

Result DynamicUpdateSlice(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(Opcode::kDynamicUpdateSlice, operands);
}

Result Pad(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const DimVector low,
                   Ints(op.attributes, {"edge_padding_low", "low"}));
  ASSIGN_OR_RETURN(const DimVector high,
                   Ints(op.attributes, {"edge_padding_high", "high"}));
  ASSIGN_OR_RETURN(const DimVector interior,
                   IntsOr(op.attributes, {"interior_padding", "interior"},
                          DimVector(low.size(), 0)));
  if (high.size() != low.size() || interior.size() != low.size()) {
    return absl::InvalidArgumentError("low, high and interior differ");
  }
  PadAttrs attrs;
  for (size_t d = 0; d < low.size(); ++d) {
    attrs.dims.push_back({low[d], high[d], interior[d]});
  }
  return scope->builder.Make(Opcode::kPad, operands, Boxed<PadAttrs>(attrs));
}

Result Gather(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const AttrDict f,
                   Fields(op.attributes, {"dimension_numbers"}));
  GatherAttrs a;
  ASSIGN_OR_RETURN(a.offset_dims, IntsOr(f, {"offset_dims"}, {}));
  ASSIGN_OR_RETURN(a.collapsed_slice_dims,
                   IntsOr(f, {"collapsed_slice_dims"}, {}));
  ASSIGN_OR_RETURN(a.operand_batching_dims,
                   IntsOr(f, {"operand_batching_dims"}, {}));
  ASSIGN_OR_RETURN(a.start_indices_batching_dims,
                   IntsOr(f, {"start_indices_batching_dims"}, {}));
  ASSIGN_OR_RETURN(a.start_index_map, IntsOr(f, {"start_index_map"}, {}));
  a.index_vector_dim = IntOr(f, {"index_vector_dim"}, 0);
  ASSIGN_OR_RETURN(a.slice_sizes, Ints(op.attributes, {"slice_sizes"}));
  a.indices_are_sorted = BoolOr(op.attributes, {"indices_are_sorted"}, false);
  return scope->builder.Make(Opcode::kGather, operands, Boxed<GatherAttrs>(a));
}

Result Scatter(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const AttrDict f,
                   Fields(op.attributes, {"scatter_dimension_numbers"}));
  ScatterAttrs a;
  ASSIGN_OR_RETURN(a.update_window_dims, IntsOr(f, {"update_window_dims"}, {}));
  ASSIGN_OR_RETURN(a.inserted_window_dims,
                   IntsOr(f, {"inserted_window_dims"}, {}));
  ASSIGN_OR_RETURN(a.input_batching_dims,
                   IntsOr(f, {"input_batching_dims"}, {}));
  ASSIGN_OR_RETURN(a.scatter_indices_batching_dims,
                   IntsOr(f, {"scatter_indices_batching_dims"}, {}));
  ASSIGN_OR_RETURN(a.scatter_dims_to_operand_dims,
                   IntsOr(f, {"scatter_dims_to_operand_dims"}, {}));
  a.index_vector_dim = IntOr(f, {"index_vector_dim"}, 0);
  a.indices_are_sorted = BoolOr(op.attributes, {"indices_are_sorted"}, false);
  a.unique_indices = BoolOr(op.attributes, {"unique_indices"}, false);
  ASSIGN_OR_RETURN(Computation * combine,
                   c.RegionOf(op, 0, scope, "scatter_combine"));
  return scope->builder.Make(Opcode::kScatter, operands, Boxed<ScatterAttrs>(a),
                             {combine});
}

Result SetDimensionSize(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * made,
                   Dimensions<Opcode::kSetDimensionSize>(op, c, scope));
  // The size may be known to be the bound.
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (shape.SameDimsAndType(made->shape())) *made->mutable_shape() = shape;
  return made;
}

// One size of a vector of them, as a scalar.
Instruction* SizeAt(Builder* b, Instruction* sizes, int64_t d) {
  if (sizes->opcode() == Opcode::kConcatenate && d < sizes->operand_count() &&
      sizes->operand_count() == sizes->shape().dim(0) &&
      sizes->operand(static_cast<int>(d))->opcode() == Opcode::kReshape) {
    Instruction* scalar = sizes->operand(static_cast<int>(d))->operand(0);
    if (scalar->shape().IsScalar()) return scalar;
  }
  return b->Reshape(b->Slice(sizes, {d}, {d + 1}), {});
}

// With a known size nothing dynamic is left; bounds are enough for HLO.
Result DynamicReshape(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  if (!shape.HasDynamicDims()) {
    return scope->builder.Make(Opcode::kReshape, {x}, ReshapeAttrs{}, {},
                               &shape);
  }
  ASSIGN_OR_RETURN(Instruction * sizes, c.Operand(op, 1, scope));
  if (shape.HasUnboundedDims() || sizes->shape().rank() != 1 ||
      sizes->shape().dim(0) != shape.rank()) {
    return absl::UnimplementedError(
        "its shape follows from open dimensions of the arguments: give their "
        "sizes (--sizes)");
  }
  std::vector<Instruction*> operands = {x};
  for (int d = 0; d < shape.rank(); ++d) {
    operands.push_back(SizeAt(&scope->builder, sizes, d));
  }
  return scope->builder.Make(Opcode::kDynamicReshape, operands,
                             DefaultAttributes(Opcode::kDynamicReshape), {},
                             &shape);
}

Result DynamicBroadcastInDim(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (shape.HasDynamicDims()) {
    return absl::UnimplementedError(
        "its shape follows from open dimensions of the arguments: give their "
        "sizes (--sizes)");
  }
  return BroadcastInDim(op, c, scope);
}

constexpr HandlerRow kMovementHandlers[] = {
    {"stablehlo.broadcast", Broadcast},
    {"stablehlo.broadcast_in_dim", BroadcastInDim},
    {"stablehlo.concatenate", Dimensions<Opcode::kConcatenate>},
    {"stablehlo.dynamic_broadcast_in_dim", DynamicBroadcastInDim},
    {"stablehlo.dynamic_reshape", DynamicReshape},
    {"stablehlo.dynamic_slice", DynamicSlice},
    {"stablehlo.dynamic_update_slice", DynamicUpdateSlice},
    {"stablehlo.gather", Gather},
    {"stablehlo.get_dimension_size", Dimensions<Opcode::kGetDimensionSize>},
    {"stablehlo.iota", Iota},
    {"stablehlo.pad", Pad},
    {"stablehlo.reshape", Reshape},
    {"stablehlo.reverse", Dimensions<Opcode::kReverse>},
    {"stablehlo.scatter", Scatter},
    {"stablehlo.set_dimension_size", SetDimensionSize},
    {"stablehlo.slice", Slice},
    {"stablehlo.transpose", Dimensions<Opcode::kTranspose>},
};

}  // namespace

absl::Span<const HandlerRow> MovementHandlers() { return kMovementHandlers; }

}  // namespace ptxla::hlo::mlir
