// Constants and elementwise operations.
#include <cstdio>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/constants.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

template <Opcode opcode>
Result SameElements(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  Attributes attributes = DefaultAttributes(opcode);
  if (auto* accuracy = GetMutableAttrs<ResultAccuracyAttrs>(&attributes)) {
    if (FindIn(op.attributes, "result_accuracy") != nullptr) {
      ASSIGN_OR_RETURN(const AttrDict fields,
                       Fields(op.attributes, {"result_accuracy"}));
      accuracy->atol = RealOr(fields, {"atol"}, 0);
      accuracy->rtol = RealOr(fields, {"rtol"}, 0);
      accuracy->ulps = IntOr(fields, {"ulps"}, 0);
      using Mode = ResultAccuracyAttrs::Mode;
      const std::string mode = EnumWord(fields, {"mode"});
      accuracy->mode = mode == "HIGHEST"     ? Mode::kHighest
                       : mode == "TOLERANCE" ? Mode::kTolerance
                                             : Mode::kDefault;
    }
  }
  return scope->builder.Make(opcode, operands, std::move(attributes));
}

// Result type as declared: convert, bitcast_convert.
template <Opcode opcode>
Result Declared(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  return scope->builder.Make(opcode, operands, DefaultAttributes(opcode), {},
                             &shape);
}

Result Constant(const Op& op, Converter& c, Scope* scope) {
  const Attr* value = op.Find("value");
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (value == nullptr || value->dense == nullptr ||
      !value->dense->shape().SameDimsAndType(shape)) {
    return absl::InvalidArgumentError("its value is not of its type");
  }
  const Literal& literal = *value->dense;
  Builder& b = scope->builder;
  if (!IsLongSplat(literal)) return b.Constant(literal);
  // Not millions of times the same number.
  return b.BroadcastScalar(
      b.Constant(Literal::SplatBytes(
          Shape::Scalar(shape.type()),
          absl::MakeSpan(literal.element(0), literal.element_bytes()))),
      shape.dims());
}

Result Compare(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  // Pretty: GT, %a, %b, FLOAT.
  std::vector<std::string> words;
  for (const auto& [key, value] : op.attributes) {
    if (key == "word") words.push_back(value.text);
  }
  std::string direction = EnumWord(op.attributes, {"comparison_direction"});
  std::string type = EnumWord(op.attributes, {"compare_type"});
  if (!words.empty()) direction = words[0];
  if (words.size() > 1) type = words[1];
  const int d = IndexOf(kCompareDirections, direction);
  if (d < 0) {
    return absl::InvalidArgumentError(
        absl::StrCat("unknown comparison \"", direction, "\""));
  }
  CompareAttrs attrs;
  attrs.direction = static_cast<CompareDirection>(d);
  if (type == "TOTALORDER") attrs.type = CompareType::kTotalOrder;
  return scope->builder.Make(Opcode::kCompare, operands, attrs);
}

// A scalar bound of clamp, or predicate of select, stands for all elements.
Result Clamp(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(auto operands, c.Operands(op, scope));
  if (operands.size() != 3) {
    return absl::InvalidArgumentError("it takes three operands");
  }
  for (int i : {0, 2}) {
    if (operands[i]->shape().IsScalar() && !operands[1]->shape().IsScalar()) {
      operands[i] = scope->builder.BroadcastScalar(operands[i],
                                                   operands[1]->shape().dims());
    }
  }
  return scope->builder.Make(Opcode::kClamp, operands);
}

Result Select(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(auto operands, c.Operands(op, scope));
  if (operands.size() == 3 && operands[0]->shape().IsScalar() &&
      operands[1]->shape().IsArray() && !operands[1]->shape().IsScalar()) {
    operands[0] = scope->builder.BroadcastScalar(operands[0],
                                                 operands[1]->shape().dims());
  }
  return scope->builder.Make(Opcode::kSelect, operands);
}

Result ReducePrecision(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ReducePrecisionAttrs attrs;
  const std::string format = EnumWord(op.attributes, {"format"});  // e5m10
  int exponent = 0, mantissa = 0;
  if (std::sscanf(format.c_str(), "e%dm%d", &exponent, &mantissa) == 2) {
    attrs.exponent_bits = exponent;
    attrs.mantissa_bits = mantissa;
  } else {
    ASSIGN_OR_RETURN(attrs.exponent_bits,
                     Int(op.attributes, {"exponent_bits"}));
    ASSIGN_OR_RETURN(attrs.mantissa_bits,
                     Int(op.attributes, {"mantissa_bits"}));
  }
  return scope->builder.Make(Opcode::kReducePrecision, operands, attrs);
}

Result Complex(const Op& op, Converter& c, Scope* scope) {
  return SameElements<Opcode::kComplex>(op, c, scope);
}

constexpr HandlerRow kElementwiseHandlers[] = {
    {"stablehlo.constant", Constant},
    {"chlo.constant", Constant},
    {"stablehlo.abs", SameElements<Opcode::kAbs>},
    {"stablehlo.add", SameElements<Opcode::kAdd>},
    {"stablehlo.and", SameElements<Opcode::kAnd>},
    {"stablehlo.atan2", SameElements<Opcode::kAtan2>},
    {"stablehlo.cbrt", SameElements<Opcode::kCbrt>},
    {"stablehlo.ceil", SameElements<Opcode::kCeil>},
    {"stablehlo.copy", SameElements<Opcode::kCopy>},
    {"stablehlo.cosine", SameElements<Opcode::kCos>},
    {"stablehlo.count_leading_zeros", SameElements<Opcode::kClz>},
    {"stablehlo.divide", SameElements<Opcode::kDivide>},
    {"stablehlo.erf", SameElements<Opcode::kErf>},
    {"stablehlo.exponential", SameElements<Opcode::kExp>},
    {"stablehlo.exponential_minus_one", SameElements<Opcode::kExpm1>},
    {"stablehlo.floor", SameElements<Opcode::kFloor>},
    {"stablehlo.imag", SameElements<Opcode::kImag>},
    {"stablehlo.is_finite", SameElements<Opcode::kIsFinite>},
    {"stablehlo.log", SameElements<Opcode::kLog>},
    {"stablehlo.log_plus_one", SameElements<Opcode::kLog1p>},
    {"stablehlo.logistic", SameElements<Opcode::kLogistic>},
    {"stablehlo.maximum", SameElements<Opcode::kMaximum>},
    {"stablehlo.minimum", SameElements<Opcode::kMinimum>},
    {"stablehlo.multiply", SameElements<Opcode::kMultiply>},
    {"stablehlo.negate", SameElements<Opcode::kNegate>},
    {"stablehlo.not", SameElements<Opcode::kNot>},
    {"stablehlo.or", SameElements<Opcode::kOr>},
    {"stablehlo.popcnt", SameElements<Opcode::kPopulationCount>},
    {"stablehlo.power", SameElements<Opcode::kPower>},
    {"stablehlo.real", SameElements<Opcode::kReal>},
    {"stablehlo.remainder", SameElements<Opcode::kRemainder>},
    {"stablehlo.round_nearest_afz", SameElements<Opcode::kRoundNearestAfz>},
    {"stablehlo.round_nearest_even", SameElements<Opcode::kRoundNearestEven>},
    {"stablehlo.rsqrt", SameElements<Opcode::kRsqrt>},
    {"stablehlo.shift_left", SameElements<Opcode::kShiftLeft>},
    {"stablehlo.shift_right_arithmetic",
     SameElements<Opcode::kShiftRightArithmetic>},
    {"stablehlo.shift_right_logical", SameElements<Opcode::kShiftRightLogical>},
    {"stablehlo.sign", SameElements<Opcode::kSign>},
    {"stablehlo.sine", SameElements<Opcode::kSin>},
    {"stablehlo.sqrt", SameElements<Opcode::kSqrt>},
    {"stablehlo.subtract", SameElements<Opcode::kSubtract>},
    {"stablehlo.tan", SameElements<Opcode::kTan>},
    {"stablehlo.tanh", SameElements<Opcode::kTanh>},
    {"stablehlo.xor", SameElements<Opcode::kXor>},
    {"stablehlo.complex", Complex},
    {"stablehlo.compare", Compare},
    {"stablehlo.clamp", Clamp},
    {"stablehlo.select", Select},
    {"stablehlo.convert", Declared<Opcode::kConvert>},
    {"stablehlo.stochastic_convert", Declared<Opcode::kStochasticConvert>},
    {"stablehlo.bitcast_convert", Declared<Opcode::kBitcastConvert>},
    {"stablehlo.stochastic_convert", Declared<Opcode::kStochasticConvert>},
    {"stablehlo.reduce_precision", ReducePrecision},
};

}  // namespace

absl::Span<const HandlerRow> ElementwiseHandlers() {
  return kElementwiseHandlers;
}

}  // namespace ptxla::hlo::mlir
