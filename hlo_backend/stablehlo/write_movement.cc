// Operations that move data.
#include <numeric>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

absl::Status Broadcast(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.broadcast_in_dim",
                    absl::StrCat(", dims = ", ListText(i.dimensions())));
}

absl::Status Transpose(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.transpose",
                    absl::StrCat(", dims = ", ListText(i.dimensions())));
}

absl::Status Reverse(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.reverse",
                    absl::StrCat(", dims = ", ListText(i.dimensions())), true);
}

std::string OneDim(const Instruction& i) {
  return absl::StrCat(", dim = ", i.dimensions()[0]);
}

absl::Status Concatenate(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.concatenate", OneDim(i));
}

absl::Status GetDimensionSize(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.get_dimension_size", OneDim(i));
}

absl::Status SetDimensionSize(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.set_dimension_size", OneDim(i));
}

absl::Status Reshape(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, "stablehlo.reshape");
}

absl::Status Iota(const Instruction& i, Writer& w) {
  OpText op;
  op.head =
      absl::StrCat("stablehlo.iota dim = ", i.attrs<IotaAttrs>().dimension);
  ASSIGN_OR_RETURN(op.types, TypeText(i.shape()));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Slice(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<SliceAttrs>();
  std::string ranges;
  for (size_t d = 0; d < a.starts.size(); ++d) {
    absl::StrAppend(&ranges, d == 0 ? "" : ", ", a.starts[d], ":", a.limits[d]);
    if (a.strides[d] != 1) absl::StrAppend(&ranges, ":", a.strides[d]);
  }
  return EmitPretty(i, w, "stablehlo.slice", absl::StrCat(" [", ranges, "]"));
}

// Starts may be the elements of one vector: in StableHLO each is a scalar.
absl::StatusOr<Values> Starts(const Instruction& i, int first, Writer& w) {
  const Values all = w.OperandValues(i);
  Values operands(all.begin(), all.begin() + first);
  if (static_cast<int>(all.size()) != first + 1 ||
      all[first].shape->rank() != 1) {
    operands.insert(operands.end(), all.begin() + first, all.end());
    return operands;
  }
  const PrimitiveType type = all[first].shape->type();
  const Shape* one = w.Keep(Shape::Array(type, {1}));
  const Shape* scalar = w.Keep(Shape::Scalar(type));
  for (int64_t d = 0; d < all[first].shape->dim(0); ++d) {
    ASSIGN_OR_RETURN(const Value part,
                     EmitStep(w, nullptr, "stablehlo.slice", {all[first]},
                              absl::StrCat(" [", d, ":", d + 1, "]"), one));
    ASSIGN_OR_RETURN(
        const Value start,
        EmitStep(w, nullptr, "stablehlo.reshape", {part}, "", scalar));
    operands.push_back(start);
  }
  return operands;
}

absl::Status DynamicSlice(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const Values operands, Starts(i, 1, w));
  ASSIGN_OR_RETURN(
      const Value made,
      EmitStep(w, &i, "stablehlo.dynamic_slice", operands,
               absl::StrCat(", sizes = ",
                            ListText(i.attrs<DynamicSliceAttrs>().sizes)),
               &i.shape()));
  w.Define(i, {made});
  return absl::OkStatus();
}

absl::Status DynamicUpdateSlice(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const Values operands, Starts(i, 2, w));
  ASSIGN_OR_RETURN(const Value made,
                   EmitStep(w, &i, "stablehlo.dynamic_update_slice", operands,
                            "", &i.shape()));
  w.Define(i, {made});
  return absl::OkStatus();
}

absl::Status Pad(const Instruction& i, Writer& w) {
  DimVector low, high, interior;
  for (const PaddingDim& d : i.attrs<PadAttrs>().dims) {
    low.push_back(d.low);
    high.push_back(d.high);
    interior.push_back(d.interior);
  }
  return EmitPretty(
      i, w, "stablehlo.pad",
      absl::StrCat(", low = ", ListText(low), ", high = ", ListText(high),
                   ", interior = ", ListText(interior)));
}

absl::Status Gather(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<GatherAttrs>();
  std::string numbers;
  auto list = [&numbers](absl::string_view key, const DimVector& dims) {
    if (dims.empty()) return;
    absl::StrAppend(&numbers, key, " = ", ListText(dims), ", ");
  };
  list("offset_dims", a.offset_dims);
  list("collapsed_slice_dims", a.collapsed_slice_dims);
  list("operand_batching_dims", a.operand_batching_dims);
  list("start_indices_batching_dims", a.start_indices_batching_dims);
  list("start_index_map", a.start_index_map);
  absl::StrAppend(&numbers, "index_vector_dim = ", a.index_vector_dim);
  return EmitSame(
      i, w, "stablehlo.gather",
      {absl::StrCat("dimension_numbers = #stablehlo.gather<", numbers, ">"),
       BoolEntry("indices_are_sorted", a.indices_are_sorted),
       absl::StrCat("slice_sizes = ", ArrayText(a.slice_sizes))});
}

absl::Status Scatter(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<ScatterAttrs>();
  std::string numbers;
  auto list = [&numbers](absl::string_view key, const DimVector& dims) {
    if (dims.empty()) return;
    absl::StrAppend(&numbers, key, " = ", ListText(dims), ", ");
  };
  list("update_window_dims", a.update_window_dims);
  list("inserted_window_dims", a.inserted_window_dims);
  list("input_batching_dims", a.input_batching_dims);
  list("scatter_indices_batching_dims", a.scatter_indices_batching_dims);
  list("scatter_dims_to_operand_dims", a.scatter_dims_to_operand_dims);
  absl::StrAppend(&numbers, "index_vector_dim = ", a.index_vector_dim);
  ASSIGN_OR_RETURN(const std::string region, w.Region(*i.to_apply()));
  return EmitSame(i, w, "stablehlo.scatter",
                  {BoolEntry("indices_are_sorted", a.indices_are_sorted),
                   absl::StrCat("scatter_dimension_numbers = "
                                "#stablehlo.scatter<",
                                numbers, ">"),
                   BoolEntry("unique_indices", a.unique_indices)},
                  {region});
}

// The same bytes under another shape: dimensions in the order of the layout,
// cut anew, and put in the order of the other layout.
absl::Status Bitcast(const Instruction& i, Writer& w) {
  const Shape& from = i.operand(0)->shape();
  const Shape& to = i.shape();
  if (!from.IsArray() || from.type() != to.type() ||
      from.ElementCount() != to.ElementCount()) {
    return absl::UnimplementedError(
        "a bitcast to another element type or size");
  }
  auto physical = [](const Shape& s) {
    DimVector order(s.rank());
    std::iota(order.begin(), order.end(), 0);
    if (s.has_layout()) {
      const auto& minor = s.layout().minor_to_major;
      order.assign(minor.rbegin(), minor.rend());
    }
    return order;
  };
  auto is_row_major = [](const DimVector& order) {
    for (size_t d = 0; d < order.size(); ++d) {
      if (order[d] != static_cast<int64_t>(d)) return false;
    }
    return true;
  };
  const DimVector before = physical(from), behind = physical(to);
  if (is_row_major(before) && is_row_major(behind)) return Reshape(i, w);
  Value value = w.OperandValues(i)[0];
  DimVector dims, target, inverse(to.rank());
  for (const int64_t d : before) dims.push_back(from.dim(d));
  for (const int64_t d : behind) target.push_back(to.dim(d));
  for (size_t d = 0; d < behind.size(); ++d) {
    inverse[behind[d]] = static_cast<int64_t>(d);
  }
  const bool is_last = is_row_major(behind);
  if (!is_row_major(before)) {
    ASSIGN_OR_RETURN(value,
                     EmitStep(w, nullptr, "stablehlo.transpose", {value},
                              absl::StrCat(", dims = ", ListText(before)),
                              w.Keep(Shape::Array(from.type(), dims))));
  }
  ASSIGN_OR_RETURN(
      value, EmitStep(w, is_last ? &i : nullptr, "stablehlo.reshape", {value},
                      "", w.Keep(Shape::Array(from.type(), target))));
  if (!is_last) {
    ASSIGN_OR_RETURN(
        value, EmitStep(w, &i, "stablehlo.transpose", {value},
                        absl::StrCat(", dims = ", ListText(inverse)), &to));
  }
  w.Define(i, {value});
  return absl::OkStatus();
}

// The vector of these sizes, where one is there already.
const Instruction* SizesOf(const Instruction& i) {
  for (const Instruction* reshape : i.operand(1)->users()) {
    if (reshape->opcode() != Opcode::kReshape) continue;
    for (const Instruction* joined : reshape->users()) {
      bool same = joined->opcode() == Opcode::kConcatenate &&
                  joined->operand_count() == i.operand_count() - 1 &&
                  joined->id() < i.id();
      for (int n = 0; same && n < joined->operand_count(); ++n) {
        const Instruction* part = joined->operand(n);
        same = part->opcode() == Opcode::kReshape &&
               part->operand(0) == i.operand(n + 1);
      }
      if (same) return joined;
    }
  }
  return nullptr;
}

// Sizes come as one vector.
absl::Status DynamicReshape(const Instruction& i, Writer& w) {
  const Values all = w.OperandValues(i);
  if (!i.shape().HasDynamicDims() && !all[0].shape->HasDynamicDims()) {
    ASSIGN_OR_RETURN(const Value made, EmitStep(w, &i, "stablehlo.reshape",
                                                {all[0]}, "", &i.shape()));
    w.Define(i, {made});
    return absl::OkStatus();
  }
  Value sizes;
  if (const Instruction* there = SizesOf(i)) {
    sizes = w.ValuesOf(there)[0];
  } else {
    const PrimitiveType type = all[1].shape->type();
    const Shape* one = w.Keep(Shape::Array(type, {1}));
    Values parts;
    for (size_t n = 1; n < all.size(); ++n) {
      ASSIGN_OR_RETURN(
          const Value part,
          EmitStep(w, nullptr, "stablehlo.reshape", {all[n]}, "", one));
      parts.push_back(part);
    }
    const int64_t count = static_cast<int64_t>(parts.size());
    ASSIGN_OR_RETURN(
        sizes, EmitStep(w, nullptr, "stablehlo.concatenate", parts, ", dim = 0",
                        w.Keep(Shape::Array(type, {count}))));
  }
  ASSIGN_OR_RETURN(const Value made,
                   EmitStep(w, &i, "stablehlo.dynamic_reshape", {all[0], sizes},
                            "", &i.shape()));
  w.Define(i, {made});
  return absl::OkStatus();
}

constexpr EmitterRow kMovementEmitters[] = {
    {Opcode::kBitcast, Bitcast},
    {Opcode::kBroadcast, Broadcast},
    {Opcode::kConcatenate, Concatenate},
    {Opcode::kDynamicReshape, DynamicReshape},
    {Opcode::kDynamicSlice, DynamicSlice},
    {Opcode::kDynamicUpdateSlice, DynamicUpdateSlice},
    {Opcode::kGather, Gather},
    {Opcode::kGetDimensionSize, GetDimensionSize},
    {Opcode::kIota, Iota},
    {Opcode::kPad, Pad},
    {Opcode::kReshape, Reshape},
    {Opcode::kReverse, Reverse},
    {Opcode::kScatter, Scatter},
    {Opcode::kSetDimensionSize, SetDimensionSize},
    {Opcode::kSlice, Slice},
    {Opcode::kTranspose, Transpose},
};

}  // namespace

absl::Span<const EmitterRow> MovementEmitters() { return kMovementEmitters; }

}  // namespace ptxla::hlo::mlir
