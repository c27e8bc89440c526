// The dialect chlo: what JAX and torch_xla print beside StableHLO.
#include <limits>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/stablehlo/converter.h"
#include "hlo_backend/stablehlo/erf_inv.h"
#include "hlo_backend/stablehlo/special_functions.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

template <Opcode opcode>
Result Same(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(opcode, operands, DefaultAttributes(opcode));
}

template <Result (*emit)(Builder*, Instruction*)>
Result Unary(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  return emit(&scope->builder, x);
}

template <Result (*emit)(Builder*, Instruction*, Instruction*)>
Result Binary(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  ASSIGN_OR_RETURN(Instruction * y, c.Operand(op, 1, scope));
  return emit(&scope->builder, x, y);
}

absl::Status NeedsFloat(const Instruction* x) {
  if (IsFloat(x->shape().type())) return absl::OkStatus();
  return absl::InvalidArgumentError("it takes a floating point tensor");
}

Instruction* Like(Builder* b, const Instruction* x, double value) {
  Instruction* scalar =
      b->Constant(Literal::Splat(Shape::Scalar(x->shape().type()), value));
  return x->shape().IsScalar() ? scalar
                               : b->BroadcastScalar(scalar, x->shape().dims());
}

Result Square(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  return scope->builder.Make(Opcode::kMultiply, {x, x});
}

Result Atan(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  RETURN_IF_ERROR(NeedsFloat(x));
  Builder& b = scope->builder;
  return b.Make(Opcode::kAtan2, {x, Like(&b, x, 1)});
}

Result Conj(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  if (!IsComplex(x->shape().type())) return x;
  Builder& b = scope->builder;
  ASSIGN_OR_RETURN(Instruction * real, b.Make(Opcode::kReal, {x}));
  ASSIGN_OR_RETURN(Instruction * imag, b.Make(Opcode::kImag, {x}));
  return b.Make(Opcode::kComplex, {real, b.Negate(imag)});
}

// sign 0: infinite in either direction.
template <int sign>
Result IsInf(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  RETURN_IF_ERROR(NeedsFloat(x));
  Builder& b = scope->builder;
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  return b.Compare(sign == 0 ? b.Abs(x) : x,
                   Like(&b, x, sign < 0 ? -kInfinity : kInfinity),
                   CompareDirection::kEq);
}

Result ConstantLike(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(Instruction * x, c.Operand(op, 0, scope));
  const Attr* value = op.Find("value");
  if (value == nullptr ||
      (value->kind != Attr::Kind::kInt && value->kind != Attr::Kind::kFloat)) {
    return absl::InvalidArgumentError("its value is a number");
  }
  Builder& b = scope->builder;
  Literal scalar(Shape::Scalar(x->shape().type()));
  if (value->kind == Attr::Kind::kInt && IsInteger(x->shape().type())) {
    scalar.SetInt(0, value->number);
  } else if (IsComplex(x->shape().type())) {
    scalar.SetComplex(0, value->real);
  } else {
    scalar.SetDouble(0, value->real);
  }
  Instruction* constant = b.Constant(std::move(scalar));
  return x->shape().IsScalar() ? constant
                               : b.BroadcastScalar(constant, x->shape().dims());
}

// `chlo.broadcast_add`: operands of different shapes are stretched first, the
// one of lower rank along `broadcast_dimensions`, by default the last ones.
Result Stretch(const Op& op, Instruction* x, const Shape& to, bool is_lower,
               Builder* b) {
  const int rank = x->shape().rank();
  if (x->shape().SameDims(to)) return x;
  DimVector dims;
  for (int d = 0; d < rank; ++d) dims.push_back(to.rank() - rank + d);
  if (is_lower && op.Find("broadcast_dimensions") != nullptr) {
    ASSIGN_OR_RETURN(dims, Ints(op.attributes, {"broadcast_dimensions"}));
  }
  if (static_cast<int>(dims.size()) != rank) {
    return absl::InvalidArgumentError("one dimension for each of the operand");
  }
  DimVector kept, kept_dims;
  for (int d = 0; d < rank; ++d) {
    if (dims[d] < 0 || dims[d] >= to.rank() ||
        (x->shape().dim(d) != 1 && x->shape().dim(d) != to.dim(dims[d]))) {
      return absl::InvalidArgumentError(absl::StrCat(
          x->shape().ToString(), " does not stretch to ", to.ToString()));
    }
    if (x->shape().dim(d) == 1 && to.dim(dims[d]) != 1) continue;
    kept.push_back(x->shape().dim(d));
    kept_dims.push_back(dims[d]);
  }
  if (static_cast<int>(kept.size()) != rank) x = b->Reshape(x, kept);
  return b->Broadcast(x, to.dims(), kept_dims);
}

Result Broadcasting(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape result, c.ResultShape(op));
  if (result.HasDynamicDims()) {
    return absl::UnimplementedError("operands of unknown size");
  }
  static constexpr absl::string_view kNames[] = {"%(0)", "%(1)", "%(2)"};
  if (operands.empty() || operands.size() > std::size(kNames)) {
    return absl::InvalidArgumentError("it takes up to three operands");
  }
  Op inner = op;
  const std::string name = op.name.substr(std::size("chlo.broadcast_") - 1);
  inner.name = absl::StrCat("stablehlo.", name);
  if (name == "next_after" || name == "polygamma" || name == "zeta") {
    inner.name = absl::StrCat("chlo.", name);
  }
  for (size_t i = 0; i < operands.size(); ++i) {
    inner.operands[i] = {kNames[i], 0};
    const bool is_lower = operands[i]->shape().rank() < result.rank();
    ASSIGN_OR_RETURN(Instruction * wide, Stretch(op, operands[i], result,
                                                 is_lower, &scope->builder));
    scope->values[{kNames[i], 0}] = wide;
  }
  const Handler handler = FindHandler(inner.name);
  if (handler == nullptr) return absl::UnimplementedError("HLO has no such");
  return handler(inner, c, scope);
}

constexpr HandlerRow kChloHandlers[] = {
    {"chlo.acos", Same<Opcode::kAcos>},
    {"chlo.acosh", Same<Opcode::kAcosh>},
    {"chlo.asin", Same<Opcode::kAsin>},
    {"chlo.asinh", Same<Opcode::kAsinh>},
    {"chlo.atan", Atan},
    {"chlo.atanh", Same<Opcode::kAtanh>},
    {"chlo.bessel_i1e", Unary<EmitBesselI1e>},
    {"chlo.broadcast_add", Broadcasting},
    {"chlo.broadcast_and", Broadcasting},
    {"chlo.broadcast_atan2", Broadcasting},
    {"chlo.broadcast_compare", Broadcasting},
    {"chlo.broadcast_complex", Broadcasting},
    {"chlo.broadcast_divide", Broadcasting},
    {"chlo.broadcast_maximum", Broadcasting},
    {"chlo.broadcast_minimum", Broadcasting},
    {"chlo.broadcast_multiply", Broadcasting},
    {"chlo.broadcast_next_after", Broadcasting},
    {"chlo.broadcast_or", Broadcasting},
    {"chlo.broadcast_polygamma", Broadcasting},
    {"chlo.broadcast_power", Broadcasting},
    {"chlo.broadcast_remainder", Broadcasting},
    {"chlo.broadcast_select", Broadcasting},
    {"chlo.broadcast_shift_left", Broadcasting},
    {"chlo.broadcast_shift_right_arithmetic", Broadcasting},
    {"chlo.broadcast_shift_right_logical", Broadcasting},
    {"chlo.broadcast_subtract", Broadcasting},
    {"chlo.broadcast_xor", Broadcasting},
    {"chlo.broadcast_zeta", Broadcasting},
    {"chlo.conj", Conj},
    {"chlo.constant_like", ConstantLike},
    {"chlo.cosh", Same<Opcode::kCosh>},
    {"chlo.digamma", Unary<EmitDigamma>},
    {"chlo.erf", Same<Opcode::kErf>},
    {"chlo.erf_inv", Unary<EmitErfInv>},
    {"chlo.erfc", Unary<EmitErfc>},
    {"chlo.is_inf", IsInf<0>},
    {"chlo.is_neg_inf", IsInf<-1>},
    {"chlo.is_pos_inf", IsInf<1>},
    {"chlo.lgamma", Unary<EmitLgamma>},
    {"chlo.mulhi", Same<Opcode::kMulhi>},
    {"chlo.next_after", Binary<EmitNextAfter>},
    {"chlo.polygamma", Binary<EmitPolygamma>},
    {"chlo.sinh", Same<Opcode::kSinh>},
    {"chlo.square", Square},
    {"chlo.tan", Same<Opcode::kTan>},
    {"chlo.zeta", Binary<EmitZeta>},
};

}  // namespace

absl::Span<const HandlerRow> ChloHandlers() { return kChloHandlers; }

}  // namespace ptxla::hlo::mlir
