// Products, convolutions, transforms and linear algebra.
#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/attribute_names.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/stablehlo/converter.h"

namespace ptxla::hlo::mlir {
namespace {

using Result = absl::StatusOr<Instruction*>;

// The vector and matrix products of before dot_general.
Result Dot(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  if (operands.size() != 2 || operands[0]->shape().rank() < 1 ||
      operands[1]->shape().rank() < 1) {
    return absl::InvalidArgumentError("it takes two vectors or matrices");
  }
  DotAttrs attrs;
  attrs.lhs_contracting = {operands[0]->shape().rank() - 1};
  attrs.rhs_contracting = {0};
  ASSIGN_OR_RETURN(attrs.precision, PrecisionOf(op.attributes));
  return scope->builder.Make(Opcode::kDot, operands, Boxed<DotAttrs>(attrs));
}

// `<lhs_precision_type = bf16, ..., num_primitive_operations = 3, ...>` or the
// name of a preset.
absl::StatusOr<DotAlgorithm> Algorithm(const AttrDict& dict) {
  const Attr* attr = FindIn(dict, "algorithm");
  if (attr == nullptr) return DotAlgorithm::kUnset;
  ASSIGN_OR_RETURN(const AttrDict f, Fields(*attr));
  auto type = [&f](absl::string_view key) {
    const Attr* a = FindIn(f, key);
    return a == nullptr ? std::string() : absl::AsciiStrToLower(a->type.text);
  };
  const std::string lhs = type("lhs_precision_type");
  const std::string out = type("accumulation_type");
  const int64_t steps = IntOr(f, {"num_primitive_operations"}, 1);
  std::string name = absl::StrCat("dot_", lhs, "_", lhs, "_", out);
  if (lhs.rfind("f8", 0) == 0) {
    name = BoolOr(f, {"allow_imprecise_accumulation"}, false)
               ? "dot_any_f8_any_f8_f32_fast_accum"
               : "dot_any_f8_any_f8_f32";
  } else if (steps > 1) {
    absl::StrAppend(&name, "_x", steps);
  }
  const int index = IndexOf(kDotAlgorithms, name);
  if (index < 0) {
    return absl::UnimplementedError(
        absl::StrCat("HLO has no algorithm ", name));
  }
  return static_cast<DotAlgorithm>(index);
}

Result DotGeneral(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  AttrDict f = op.attributes;
  if (FindIn(f, "dot_dimension_numbers") != nullptr) {
    ASSIGN_OR_RETURN(f, Fields(op.attributes, {"dot_dimension_numbers"}));
  }
  DotAttrs a;
  ASSIGN_OR_RETURN(
      a.lhs_batch,
      IntsOr(f, {"lhs_batching_dimensions", "lhs_batching_dims"}, {}));
  ASSIGN_OR_RETURN(
      a.rhs_batch,
      IntsOr(f, {"rhs_batching_dimensions", "rhs_batching_dims"}, {}));
  ASSIGN_OR_RETURN(
      a.lhs_contracting,
      IntsOr(f, {"lhs_contracting_dimensions", "lhs_contracting_dims"}, {}));
  ASSIGN_OR_RETURN(
      a.rhs_contracting,
      IntsOr(f, {"rhs_contracting_dimensions", "rhs_contracting_dims"}, {}));
  ASSIGN_OR_RETURN(a.precision, PrecisionOf(op.attributes));
  ASSIGN_OR_RETURN(a.precision.algorithm, Algorithm(op.attributes));
  ASSIGN_OR_RETURN(
      Instruction * dot,
      scope->builder.Make(Opcode::kDot, operands, Boxed<DotAttrs>(a)));
  // The result may be wider than the operands (i8 x i8 to i32).
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (shape.SameDims(dot->shape())) *dot->mutable_shape() = shape;
  if (c.refining()) dot->mutable_shape()->set_type(shape.type());
  return dot;
}

// [b, 0, 1, f]x[0, 1, i, o]->[b, 0, 1, f] is b01f_01io->b01f.
std::string ConvLabels(absl::string_view text) {
  std::string labels;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (c == 'x') {
      labels.push_back('_');
    } else if (absl::ascii_isalnum(c) || c == '-' || c == '?' ||
               (c == '>' && i > 0 && text[i - 1] == '-')) {
      labels.push_back(c);
    }
  }
  return labels;
}

Result Convolution(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  const Attr* numbers = op.Find("dimension_numbers");
  if (numbers == nullptr || operands.size() != 2) {
    return absl::InvalidArgumentError("it takes two tensors and their labels");
  }
  absl::string_view text = numbers->text;  // also #stablehlo.conv<...>
  const size_t open = text.find('[');
  if (open == absl::string_view::npos) {
    return absl::UnimplementedError(
        absl::StrCat("dimension numbers as ", numbers->text));
  }
  text.remove_prefix(open);
  ConvAttrs a;
  ASSIGN_OR_RETURN(a.dims, ParseConvDims(ConvLabels(text)),
                   _ << "dimension numbers " << numbers->text);
  DimVector sizes;
  for (int64_t d : a.dims.kernel_spatial) {
    if (d >= operands[1]->shape().rank()) {
      return absl::InvalidArgumentError("more labels than dimensions");
    }
    sizes.push_back(operands[1]->shape().dim(static_cast<int>(d)));
  }
  ASSIGN_OR_RETURN(a.window, WindowOf(op.attributes, sizes));
  a.feature_group_count = IntOr(op.attributes, {"feature_group_count"}, 1);
  a.batch_group_count = IntOr(op.attributes, {"batch_group_count"}, 1);
  ASSIGN_OR_RETURN(a.precision, PrecisionOf(op.attributes));
  ASSIGN_OR_RETURN(
      Instruction * product,
      scope->builder.Make(Opcode::kConvolution, operands, Boxed<ConvAttrs>(a)));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (shape.SameDims(product->shape())) *product->mutable_shape() = shape;
  if (c.refining()) product->mutable_shape()->set_type(shape.type());
  return product;
}

Result Fft(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  FftAttrs attrs;
  const int type =
      IndexOf(kFftTypes, EnumWord(op.attributes, {"fft_type", "type"}));
  if (type < 0) return absl::InvalidArgumentError("unknown FFT type");
  attrs.type = static_cast<FftType>(type);
  ASSIGN_OR_RETURN(attrs.length, Ints(op.attributes, {"fft_length", "length"}));
  return scope->builder.Make(Opcode::kFft, operands, attrs);
}

Result Cholesky(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  return scope->builder.Make(
      Opcode::kCholesky, operands,
      CholeskyAttrs{BoolOr(op.attributes, {"lower"}, false)});
}

Result TriangularSolve(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  TriangularSolveAttrs a;
  a.left_side = BoolOr(op.attributes, {"left_side"}, true);
  a.lower = BoolOr(op.attributes, {"lower"}, true);
  a.unit_diagonal = BoolOr(op.attributes, {"unit_diagonal"}, false);
  const int transpose =
      IndexOf(kTransposes, EnumWord(op.attributes, {"transpose_a"}));
  a.transpose_a =
      transpose < 0 ? TransposeA::kNo : static_cast<TransposeA>(transpose);
  return scope->builder.Make(Opcode::kTriangularSolve, operands, a);
}

Result RaggedDot(const Op& op, Converter& c, Scope* scope) {
  ASSIGN_OR_RETURN(const auto operands, c.Operands(op, scope));
  ASSIGN_OR_RETURN(const AttrDict f,
                   Fields(op.attributes, {"ragged_dot_dimension_numbers"}));
  RaggedDotAttrs a;
  ASSIGN_OR_RETURN(a.dot.lhs_batch, IntsOr(f, {"lhs_batching_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.dot.rhs_batch, IntsOr(f, {"rhs_batching_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.dot.lhs_contracting,
                   IntsOr(f, {"lhs_contracting_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.dot.rhs_contracting,
                   IntsOr(f, {"rhs_contracting_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.lhs_ragged, IntsOr(f, {"lhs_ragged_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.rhs_group, IntsOr(f, {"rhs_group_dimensions"}, {}));
  ASSIGN_OR_RETURN(a.dot.precision, PrecisionOf(op.attributes));
  ASSIGN_OR_RETURN(Instruction * dot,
                   scope->builder.Make(Opcode::kRaggedDot, operands,
                                       Boxed<RaggedDotAttrs>(a)));
  ASSIGN_OR_RETURN(const Shape shape, c.ResultShape(op));
  if (shape.SameDims(dot->shape())) *dot->mutable_shape() = shape;
  if (c.refining()) dot->mutable_shape()->set_type(shape.type());
  return dot;
}

constexpr HandlerRow kProductsHandlers[] = {
    {"stablehlo.cholesky", Cholesky},
    {"stablehlo.convolution", Convolution},
    {"stablehlo.dot", Dot},
    {"stablehlo.dot_general", DotGeneral},
    {"stablehlo.fft", Fft},
    {"stablehlo.triangular_solve", TriangularSolve},
    {"chlo.ragged_dot", RaggedDot},
};

}  // namespace

absl::Span<const HandlerRow> ProductHandlers() { return kProductsHandlers; }

}  // namespace ptxla::hlo::mlir
