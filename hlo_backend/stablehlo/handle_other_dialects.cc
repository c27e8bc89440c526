// What compilers leave among StableHLO of the dialects arith and tensor:
// constants, arithmetic on whole tensors, slices at known places.
#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

Result ArithConstant(const Op& op, Converter& c, Scope* scope) {
  const Attr* value = op.Find("value");
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (value != nullptr && value->dense != nullptr) {
    return FindHandler("stablehlo.constant")(op, c, scope);
  }
  // A number: `arith.constant 3 : i32`.
  if (value == nullptr || !shape.IsScalar()) {
    return absl::InvalidArgumentError("its value is a tensor or a number");
  }
  Literal scalar(shape);
  if (IsFloat(shape.type())) {
    scalar.SetDouble(0, value->real);
  } else {
    scalar.SetInt(0, value->number);
  }
  return scope->builder.Constant(std::move(scalar));
}

template <Opcode opcode>
Result ArithSame(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(opcode, operands, DefaultAttributes(opcode));
}

template <Opcode opcode>
Result Cast(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  return scope->builder.Make(opcode, operands, DefaultAttributes(opcode), {},
                             &shape);
}

// Offsets, sizes and strides, all of them known; one for each dimension.
struct Place {
  DimVector offsets, sizes, strides;
};

absl::StatusOr<Place> PlaceOf(const Op& op, int rank, size_t operands) {
  Place p;
  ASSIGN_OR_RETURN(p.offsets, Ints(op.attributes, {"static_offsets"}));
  ASSIGN_OR_RETURN(p.sizes, Ints(op.attributes, {"static_sizes"}));
  ASSIGN_OR_RETURN(p.strides, Ints(op.attributes, {"static_strides"}));
  if (op.operands.size() != operands) {
    return absl::UnimplementedError("a slice at a place that is computed");
  }
  const size_t count = static_cast<size_t>(rank);
  if (p.offsets.size() != count || p.sizes.size() != count ||
      p.strides.size() != count) {
    return absl::InvalidArgumentError(
        absl::StrCat("offsets, sizes and strides have ", rank, " elements"));
  }
  return p;
}

Result InsertSlice(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * source, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(Instruction * target, c.Operand(op, 1, scope));
  ASSIGN_OR_RETURN(const Place p, PlaceOf(op, target->shape().rank(), 2));
  Builder& b = scope->builder;
  if (source->shape().dims() != p.sizes) {
    const Shape shape = Shape::Array(source->shape().type(), p.sizes);
    ASSIGN_OR_RETURN(
        source, b.Make(Opcode::kReshape, {source}, ReshapeAttrs{}, {}, &shape));
  }
  std::vector<Instruction*> operands = {target, source};
  for (size_t d = 0; d < p.offsets.size(); ++d) {
    if (p.strides[d] != 1) {
      return absl::UnimplementedError("a slice with strides");
    }
    // HLO would move the slice inside.
    if (p.offsets[d] < 0 ||
        p.offsets[d] + p.sizes[d] > target->shape().dim(static_cast<int>(d))) {
      return absl::InvalidArgumentError("the slice does not lie inside");
    }
    operands.push_back(b.Constant(
        Literal::SplatInt(Shape::Scalar(PrimitiveType::kS32), p.offsets[d])));
  }
  return b.Make(Opcode::kDynamicUpdateSlice, operands);
}

Result ExtractSlice(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  ASSIGN_OR_RETURN(const Place p, PlaceOf(op, x->shape().rank(), 1));
  SliceAttrs attrs;
  attrs.starts = p.offsets;
  attrs.strides = p.strides;
  for (size_t d = 0; d < p.offsets.size(); ++d) {
    const int64_t last =
        p.offsets[d] + (std::max<int64_t>(p.sizes[d], 1) - 1) * p.strides[d];
    attrs.limits.push_back(p.sizes[d] == 0 ? p.offsets[d] : last + 1);
  }
  Builder& b = scope->builder;
  ASSIGN_OR_RETURN(Instruction * slice,
                   b.Make(Opcode::kSlice, {x}, Boxed<SliceAttrs>(attrs)));
  if (slice->shape().SameDims(shape)) return slice;
  return b.Make(Opcode::kReshape, {slice}, ReshapeAttrs{}, {}, &shape);
}

Result ReshapeTensor(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  return scope->builder.Make(Opcode::kReshape, {x}, ReshapeAttrs{}, {}, &shape);
}

constexpr HandlerRow kOtherDialectsHandlers[] = {
    {"arith.addf", ArithSame<Opcode::kAdd>},
    {"arith.addi", ArithSame<Opcode::kAdd>},
    {"arith.andi", ArithSame<Opcode::kAnd>},
    {"arith.constant", ArithConstant},
    {"arith.divf", ArithSame<Opcode::kDivide>},
    {"arith.divsi", ArithSame<Opcode::kDivide>},
    {"arith.extf", Cast<Opcode::kConvert>},
    {"arith.extsi", Cast<Opcode::kConvert>},
    {"arith.maximumf", ArithSame<Opcode::kMaximum>},
    {"arith.maxsi", ArithSame<Opcode::kMaximum>},
    {"arith.minimumf", ArithSame<Opcode::kMinimum>},
    {"arith.minsi", ArithSame<Opcode::kMinimum>},
    {"arith.mulf", ArithSame<Opcode::kMultiply>},
    {"arith.muli", ArithSame<Opcode::kMultiply>},
    {"arith.negf", ArithSame<Opcode::kNegate>},
    {"arith.ori", ArithSame<Opcode::kOr>},
    {"arith.select", ArithSame<Opcode::kSelect>},
    {"arith.sitofp", Cast<Opcode::kConvert>},
    {"arith.subf", ArithSame<Opcode::kSubtract>},
    {"arith.subi", ArithSame<Opcode::kSubtract>},
    {"arith.truncf", Cast<Opcode::kConvert>},
    {"arith.trunci", Cast<Opcode::kConvert>},
    {"arith.xori", ArithSame<Opcode::kXor>},
    {"tensor.collapse_shape", ReshapeTensor},
    {"tensor.expand_shape", ReshapeTensor},
    {"tensor.extract_slice", ExtractSlice},
    {"tensor.insert_slice", InsertSlice},
};

}  // namespace

absl::Span<const HandlerRow> OtherDialectHandlers() {
  return kOtherDialectsHandlers;
}

}  // namespace ptxla::hlo::mlir
