// Quantised tensors: what is stored, and the way to floats and back.
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

// One value for all, or one for each index of a dimension.
Instruction* Along(Builder* b, const std::vector<double>& values, int axis,
                   PrimitiveType type, const Shape& shape) {
  if (axis < 0) {
    Instruction* one = b->ConstantScalar(type, values[0]);
    return shape.IsScalar() ? one : b->BroadcastScalar(one, shape.dims());
  }
  Literal vector(Shape::Array(type, {static_cast<int64_t>(values.size())}));
  for (size_t i = 0; i < values.size(); ++i) {
    vector.SetDouble(static_cast<int64_t>(i), values[i]);
  }
  return b->Broadcast(b->Constant(std::move(vector)), shape.dims(), {axis});
}

Instruction* ZeroPoints(Builder* b, const Quantized& q, const Shape& shape) {
  return Along(b, {q.zero_points.begin(), q.zero_points.end()}, q.axis,
               q.expressed, shape);
}

// (stored - zero point) * scale.
Instruction* Dequantize(Builder* b, Instruction* x, const Quantized& q) {
  Instruction* wide = b->Convert(x, q.expressed);
  return b->Multiply(b->Subtract(wide, ZeroPoints(b, q, x->shape())),
                     Along(b, q.scales, q.axis, q.expressed, x->shape()));
}

// clamp(round(x / scale) + zero point), to the nearest even.
Instruction* Quantize(Builder* b, Instruction* x, const Quantized& q,
                      PrimitiveType stored) {
  const Shape& shape = x->shape();
  Instruction* scaled =
      b->Divide(x, Along(b, q.scales, q.axis, q.expressed, shape));
  Instruction* moved = b->Add(b->Unary(Opcode::kRoundNearestEven, scaled),
                              ZeroPoints(b, q, shape));
  auto bound = [&](int64_t value) {
    return Along(b, {static_cast<double>(value)}, -1, q.expressed, shape);
  };
  return b->Convert(b->Clamp(bound(q.min), moved, bound(q.max)), stored);
}

Result UniformDequantize(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  if (op.operand_types.size() != 1 ||
      op.operand_types[0].quantized == nullptr) {
    return absl::InvalidArgumentError("its operand is no quantised tensor");
  }
  return Dequantize(&scope->builder, x, *op.operand_types[0].quantized);
}

Result UniformQuantize(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (op.operand_types.size() != 1 || op.result_types[0].quantized == nullptr) {
    return absl::InvalidArgumentError("its result is no quantised tensor");
  }
  const Quantized& to = *op.result_types[0].quantized;
  Builder& b = scope->builder;
  if (const Quantized* from = op.operand_types[0].quantized.get()) {
    x = Dequantize(&b, x, *from);
  }
  if (x->shape().type() != to.expressed) {
    return absl::InvalidArgumentError(
        absl::StrCat("it expresses ", PrimitiveTypeName(to.expressed), ", not ",
                     PrimitiveTypeName(x->shape().type())));
  }
  return Quantize(&b, x, to, shape.type());
}

constexpr HandlerRow kQuantizedHandlers[] = {
    {"stablehlo.uniform_dequantize", UniformDequantize},
    {"stablehlo.uniform_quantize", UniformQuantize},
};

// These move what is stored, whatever it means.
constexpr absl::string_view kMoving[] = {
    "func.call",
    "stablehlo.bitcast_convert",
    "stablehlo.broadcast_in_dim",
    "stablehlo.concatenate",
    "stablehlo.constant",
    "stablehlo.custom_call",
    "stablehlo.dynamic_slice",
    "stablehlo.dynamic_update_slice",
    "stablehlo.gather",
    "stablehlo.get_tuple_element",
    "stablehlo.optimization_barrier",
    "stablehlo.pad",
    "stablehlo.reshape",
    "stablehlo.reverse",
    "stablehlo.select",
    "stablehlo.slice",
    "stablehlo.transpose",
    "stablehlo.tuple",
    "stablehlo.uniform_dequantize",
    "stablehlo.uniform_quantize",
};

}  // namespace

absl::Status CheckQuantized(const Op& op) {
  bool any = false;
  for (const Type& t : op.operand_types) any |= t.quantized != nullptr;
  for (const Type& t : op.result_types) any |= t.quantized != nullptr;
  if (!any) return absl::OkStatus();
  for (const absl::string_view name : kMoving) {
    if (op.name == name) return absl::OkStatus();
  }
  return absl::UnimplementedError(
      "arithmetic on quantised tensors: dequantise them first");
}

absl::Span<const HandlerRow> QuantizedHandlers() { return kQuantizedHandlers; }

}  // namespace ptxla::hlo::mlir
