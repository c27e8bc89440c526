// Products, convolutions, transforms and linear algebra.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/stablehlo/mlir_text.h"
#include "hlo_backend/stablehlo/writer.h"

namespace ptxla::hlo::mlir {
namespace {

std::string Upper(absl::string_view word) {
  return absl::AsciiStrToUpper(word);
}

bool AnyPrecision(const PrecisionConfig& p) {
  return p.operand(0) != Precision::kDefault ||
         p.operand(1) != Precision::kDefault;
}

std::string PrecisionEntry(const PrecisionConfig& p,
                           absl::string_view dialect) {
  std::string list;
  for (int n : {0, 1}) {
    absl::StrAppend(&list, n == 0 ? "" : ", ", "#", dialect, "<precision ",
                    Upper(NameOf(kPrecisions, p.operand(n))), ">");
  }
  return absl::StrCat("precision_config = [", list, "]");
}

// dot_bf16_bf16_f32_x3 is three products of bf16, summed in f32.
absl::StatusOr<std::string> AlgorithmText(const DotAttrs& a,
                                          const Instruction& dot) {
  const DotAlgorithm algorithm = a.precision.algorithm;
  std::string lhs, rhs, sum = "f32";
  int64_t steps = 1;
  bool imprecise = false;
  if (algorithm == DotAlgorithm::kAnyF8AnyF8F32 ||
      algorithm == DotAlgorithm::kAnyF8AnyF8F32FastAccum) {
    imprecise = algorithm == DotAlgorithm::kAnyF8AnyF8F32FastAccum;
    std::string types[2];
    for (int n : {0, 1}) {
      const PrimitiveType type = dot.operand(n)->shape().type();
      ASSIGN_OR_RETURN(types[n], TypeText(Shape::Scalar(type)));
      // The element of tensor<f8E5M2>.
      types[n] = types[n].substr(7, types[n].size() - 8);
      if (BitWidth(type) != 8) types[n] = "f8E5M2";
    }
    lhs = types[0];
    rhs = types[1];
  } else {
    const std::vector<std::string> words =
        absl::StrSplit(NameOf(kDotAlgorithms, algorithm), '_');
    lhs = words[1];
    rhs = words[2];
    sum = words[3];
    if (words.size() > 4) steps = words[4][1] - '0';
  }
  // How many parts an operand is split into.
  const int64_t parts = steps == 1 ? 1 : steps == 3 ? 2 : 3;
  return absl::StrCat(
      ", algorithm = <lhs_precision_type = ", lhs,
      ", rhs_precision_type = ", rhs, ", accumulation_type = ", sum,
      ", lhs_component_count = ", parts, ", rhs_component_count = ", parts,
      ", num_primitive_operations = ", steps,
      ", allow_imprecise_accumulation = ", imprecise ? "true" : "false", ">");
}

absl::Status Dot(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<DotAttrs>();
  if (!a.sparsity.empty()) {
    return absl::UnimplementedError("StableHLO has no sparse product");
  }
  std::string middle;
  if (!a.lhs_batch.empty()) {
    absl::StrAppend(&middle, ", batching_dims = ", ListText(a.lhs_batch), " x ",
                    ListText(a.rhs_batch));
  }
  absl::StrAppend(&middle, ", contracting_dims = ", ListText(a.lhs_contracting),
                  " x ", ListText(a.rhs_contracting));
  if (AnyPrecision(a.precision)) {
    absl::StrAppend(&middle, ", precision = [",
                    Upper(NameOf(kPrecisions, a.precision.operand(0))), ", ",
                    Upper(NameOf(kPrecisions, a.precision.operand(1))), "]");
  }
  if (a.precision.algorithm != DotAlgorithm::kUnset) {
    ASSIGN_OR_RETURN(const std::string algorithm, AlgorithmText(a, i));
    // It comes behind precisions.
    if (!AnyPrecision(a.precision)) {
      absl::StrAppend(&middle, ", precision = [DEFAULT, DEFAULT]");
    }
    middle.append(algorithm);
  }
  return EmitPretty(i, w, "stablehlo.dot_general", middle);
}

absl::Status RaggedDot(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<RaggedDotAttrs>();
  std::string numbers;
  auto list = [&numbers](absl::string_view key, const DimVector& dims) {
    absl::StrAppend(&numbers, numbers.empty() ? "" : ", ", key, " = ",
                    ListText(dims));
  };
  list("lhs_batching_dimensions", a.dot.lhs_batch);
  list("rhs_batching_dimensions", a.dot.rhs_batch);
  list("lhs_contracting_dimensions", a.dot.lhs_contracting);
  list("rhs_contracting_dimensions", a.dot.rhs_contracting);
  list("lhs_ragged_dimensions", a.lhs_ragged);
  list("rhs_group_dimensions", a.rhs_group);
  return EmitSame(
      i, w, "chlo.ragged_dot",
      {PrecisionEntry(a.dot.precision, "chlo"),
       absl::StrCat("ragged_dot_dimension_numbers = #chlo.ragged_dot<", numbers,
                    ">")});
}

// b01f_01io->b01f is [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f].
std::string ConvLabels(const std::string& labels) {
  std::string text = "[";
  for (const char c : labels) {
    if (c == '_') {
      text.append("]x[");
    } else if (c == '-') {
      text.append("]->[");
    } else if (c != '>') {
      if (text.back() != '[') text.append(", ");
      text.push_back(c);
    }
  }
  return text + "]";
}

std::string ConvWindow(const Window& window) {
  DimVector stride, pad, base, dilation;
  std::string reverse;
  bool strides = false, pads = false, bases = false, dilations = false,
       reversals = false;
  for (const WindowDim& d : window.dims) {
    stride.push_back(d.stride);
    pad.push_back(d.padding_low);
    pad.push_back(d.padding_high);
    base.push_back(d.base_dilation);
    dilation.push_back(d.window_dilation);
    absl::StrAppend(&reverse, reverse.empty() ? "" : ", ",
                    d.reversal ? "true" : "false");
    strides |= d.stride != 1;
    pads |= d.padding_low != 0 || d.padding_high != 0;
    bases |= d.base_dilation != 1;
    dilations |= d.window_dilation != 1;
    reversals |= d.reversal;
  }
  std::string text;
  auto add = [&text](absl::string_view key, const std::string& list) {
    absl::StrAppend(&text, text.empty() ? "" : ", ", key, " = ", list);
  };
  if (strides) add("stride", ListText(stride));
  if (pads) {
    std::string pairs;
    for (size_t d = 0; d < pad.size(); d += 2) {
      absl::StrAppend(&pairs, d == 0 ? "" : ", ",
                      ListText({pad[d], pad[d + 1]}));
    }
    add("pad", absl::StrCat("[", pairs, "]"));
  }
  if (bases) add("lhs_dilate", ListText(base));
  if (dilations) add("rhs_dilate", ListText(dilation));
  if (reversals) add("reverse", absl::StrCat("[", reverse, "]"));
  return text;
}

absl::Status Convolution(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<ConvAttrs>();
  if (!a.sparsity.empty() || i.operand_count() != 2) {
    return absl::UnimplementedError("StableHLO has no sparse convolution");
  }
  const Values operands = w.OperandValues(i);
  const std::vector<const Shape*> results = LeavesOf(i.shape());
  OpText op;
  ASSIGN_OR_RETURN(const std::string names, w.UseAll(operands));
  op.head = absl::StrCat("stablehlo.convolution(", names,
                         ") dim_numbers = ", ConvLabels(a.dims.ToString()),
                         ", window = {", ConvWindow(a.window), "}");
  op.attributes = {IntEntry("batch_group_count", a.batch_group_count),
                   IntEntry("feature_group_count", a.feature_group_count)};
  if (AnyPrecision(a.precision)) {
    op.attributes.push_back(PrecisionEntry(a.precision, "stablehlo"));
  }
  ASSIGN_OR_RETURN(op.types, w.Signature(operands, results));
  ASSIGN_OR_RETURN(Values made, w.Emit(&i, std::move(op), results));
  w.Define(i, std::move(made));
  return absl::OkStatus();
}

absl::Status Fft(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<FftAttrs>();
  return EmitPretty(i, w, "stablehlo.fft",
                    absl::StrCat(", type = ", NameOf(kFftTypes, a.type),
                                 ", length = ", ListText(a.length)));
}

absl::Status Cholesky(const Instruction& i, Writer& w) {
  return EmitPretty(
      i, w, "stablehlo.cholesky",
      absl::StrCat(", ", BoolEntry("lower", i.attrs<CholeskyAttrs>().lower)),
      true);
}

absl::Status TriangularSolve(const Instruction& i, Writer& w) {
  const auto& a = i.attrs<TriangularSolveAttrs>();
  const TransposeA transpose =
      a.transpose_a == TransposeA::kInvalid ? TransposeA::kNo : a.transpose_a;
  return EmitSame(
      i, w, "stablehlo.triangular_solve",
      {BoolEntry("left_side", a.left_side), BoolEntry("lower", a.lower),
       absl::StrCat("transpose_a = #stablehlo<transpose ",
                    NameOf(kTransposes, transpose), ">"),
       BoolEntry("unit_diagonal", a.unit_diagonal)});
}

constexpr EmitterRow kProductsEmitters[] = {
    {Opcode::kCholesky, Cholesky},
    {Opcode::kConvolution, Convolution},
    {Opcode::kDot, Dot},
    {Opcode::kFft, Fft},
    {Opcode::kRaggedDot, RaggedDot},
    {Opcode::kTriangularSolve, TriangularSolve},
};

}  // namespace

absl::Span<const EmitterRow> ProductEmitters() { return kProductsEmitters; }

}  // namespace ptxla::hlo::mlir
