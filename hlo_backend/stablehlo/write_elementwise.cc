// Elementwise operations.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

// Most have HLO's name: shift-left is stablehlo.shift_left.
std::string NameOf(Opcode opcode, absl::string_view dialect = "stablehlo.") {
  return absl::StrCat(dialect,
                      absl::StrReplaceAll(OpcodeName(opcode), {{"-", "_"}}));
}

// #stablehlo.result_accuracy<...>, unless it is the default one.
std::string Accuracy(const ResultAccuracyAttrs& a) {
  using Mode = ResultAccuracyAttrs::Mode;
  if (a.mode == Mode::kDefault) return "";
  std::string text = "result_accuracy = #stablehlo.result_accuracy<";
  if (a.mode == Mode::kTolerance) {
    absl::StrAppend(&text, "atol = ", RealText(a.atol),
                    ", rtol = ", RealText(a.rtol), ", ulps = ", a.ulps, ", ");
  }
  return absl::StrCat(text, "mode = #stablehlo.result_accuracy_mode<",
                      a.mode == Mode::kHighest ? "HIGHEST" : "TOLERANCE", ">>");
}

absl::Status Plain(const Instruction& i, Writer& w) {
  const std::string name = NameOf(i.opcode());
  std::string accuracy;
  if (const auto* a = i.attrs_if<ResultAccuracyAttrs>()) {
    accuracy = Accuracy(*a);
  }
  if (accuracy.empty()) return EmitPretty(i, w, name, "", true);
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat(name, " ", names);
  op.attributes.push_back(std::move(accuracy));
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// Types of operands and result are always written.
absl::Status Typed(const Instruction& i, Writer& w) {
  return EmitPretty(i, w, NameOf(i.opcode()));
}

// `chlo.erf %0 : T -> T`.
absl::Status Chlo(const Instruction& i, Writer& w) {
  const Values operands = w.OperandValues(i);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat(NameOf(i.opcode(), "chlo."), " ", names);
  ASSIGN_OR_RETURN(const std::string result, TypeText(i.shape()));
  ASSIGN_OR_RETURN(const std::string before, w.Types(operands));
  op.types = absl::StrCat(before.substr(1, before.size() - 2), " -> ", result);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, op, LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Compare(const Instruction& i, Writer& w) {
  const auto& attrs = i.attrs<CompareAttrs>();
  const PrimitiveType type = i.operand(0)->shape().type();
  absl::string_view kind = "SIGNED";
  if (attrs.type == CompareType::kTotalOrder) {
    kind = "TOTALORDER";
  } else if (IsFloat(type) || IsComplex(type)) {
    kind = "FLOAT";
  } else if (!IsSigned(type)) {
    kind = "UNSIGNED";
  }
  const Values operands = w.OperandValues(i);
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.compare ",
                         NameOf(kCompareDirections, attrs.direction), ", ",
                         names, ", ", kind);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// A scalar operand of a select or clamp stands for all elements.
absl::StatusOr<Values> Widened(const Instruction& i, Writer& w) {
  Values operands = w.OperandValues(i);
  for (Value& v : operands) {
    if (!v.shape->IsScalar() || i.shape().IsScalar()) continue;
    const Shape* wide = w.Keep(Shape::Array(v.shape->type(), i.shape().dims()));
    ASSIGN_OR_RETURN(v, EmitStep(w, nullptr, "stablehlo.broadcast_in_dim", {v},
                                 ", dims = []", wide));
  }
  return operands;
}

absl::Status Clamp(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const Values operands, Widened(i, w));
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.clamp ", names);
  ASSIGN_OR_RETURN(op.types, TypeText(i.shape()));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

// Its types are those of the predicate and of the result.
absl::Status Select(const Instruction& i, Writer& w) {
  ASSIGN_OR_RETURN(const Values operands, Widened(i, w));
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.select ", names);
  ASSIGN_OR_RETURN(const std::string predicate, TypeText(*operands[0].shape));
  ASSIGN_OR_RETURN(const std::string result, TypeText(i.shape()));
  op.types = absl::StrCat(predicate, ", ", result);
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), LeavesOf(i.shape())));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status ReducePrecision(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<ReducePrecisionAttrs>();
  return EmitPretty(
      i, w, "stablehlo.reduce_precision",
      absl::StrCat(", format = e", a.exponent_bits, "m", a.mantissa_bits),
      true);
}

// StableHLO has no such operation, XLA's own dialect has.
absl::Status StochasticConvert(const Instruction& i, Writer& w) {
  return EmitSame(i, w, "mhlo.stochastic_convert", {});
}

constexpr EmitterRow kElementwiseEmitters[] = {
    {Opcode::kAbs, Plain},
    {Opcode::kAcos, Chlo},
    {Opcode::kAcosh, Chlo},
    {Opcode::kAdd, Plain},
    {Opcode::kAnd, Plain},
    {Opcode::kAsin, Chlo},
    {Opcode::kAsinh, Chlo},
    {Opcode::kAtan2, Plain},
    {Opcode::kAtanh, Chlo},
    {Opcode::kBitcastConvert, Typed},
    {Opcode::kCbrt, Plain},
    {Opcode::kCeil, Plain},
    {Opcode::kClamp, Clamp},
    {Opcode::kClz, Plain},
    {Opcode::kCompare, Compare},
    {Opcode::kComplex, Plain},
    {Opcode::kConvert, Typed},
    {Opcode::kCos, Plain},
    {Opcode::kCosh, Chlo},
    {Opcode::kDivide, Plain},
    {Opcode::kErf, Chlo},
    {Opcode::kExp, Plain},
    {Opcode::kExpm1, Plain},
    {Opcode::kFloor, Plain},
    {Opcode::kImag, Plain},
    {Opcode::kIsFinite, Plain},
    {Opcode::kLog, Plain},
    {Opcode::kLog1p, Plain},
    {Opcode::kLogistic, Plain},
    {Opcode::kMaximum, Plain},
    {Opcode::kMinimum, Plain},
    {Opcode::kMulhi, Chlo},
    {Opcode::kMultiply, Plain},
    {Opcode::kNegate, Plain},
    {Opcode::kNot, Plain},
    {Opcode::kOr, Plain},
    {Opcode::kPopulationCount, Plain},
    {Opcode::kPower, Plain},
    {Opcode::kReal, Plain},
    {Opcode::kReducePrecision, ReducePrecision},
    {Opcode::kRemainder, Plain},
    {Opcode::kRoundNearestAfz, Plain},
    {Opcode::kRoundNearestEven, Plain},
    {Opcode::kRsqrt, Plain},
    {Opcode::kSelect, Select},
    {Opcode::kShiftLeft, Plain},
    {Opcode::kShiftRightArithmetic, Plain},
    {Opcode::kShiftRightLogical, Plain},
    {Opcode::kSign, Plain},
    {Opcode::kSin, Plain},
    {Opcode::kSinh, Chlo},
    {Opcode::kSqrt, Plain},
    {Opcode::kStochasticConvert, StochasticConvert},
    {Opcode::kSubtract, Plain},
    {Opcode::kTan, Plain},
    {Opcode::kTanh, Plain},
    {Opcode::kXor, Plain},
};

}  // namespace

absl::Span<const EmitterRow> ElementwiseEmitters() {
  return kElementwiseEmitters;
}

}  // namespace ptxla::hlo::mlir
