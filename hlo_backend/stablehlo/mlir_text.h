// Types, constants and strings as MLIR text. Internal to the writer.
//
//   TypeText(f32[2,<=3])  "tensor<2x?xf32, #stablehlo.bounds<?, 3>>"
//   DenseText({1, 1})     "dense<1.000000e+00> : tensor<2xf32>"
//   Quoted("a\"b")        "\"a\\22b\""
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_MLIR_TEXT_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_MLIR_TEXT_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/literal.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo::mlir {

// Unimplemented: MLIR has no such type (s1, u1, opaque, buffers).
absl::StatusOr<std::string> TypeText(const Shape& shape);
// Elements of a long list in hexadecimal, as MLIR does.
absl::StatusOr<std::string> DenseText(const Literal& literal);
// A float as MLIR wants it: with a point, bits in hexadecimal unless finite.
std::string FloatText(const Literal& literal, int64_t i);
std::string RealText(double value);

// In quotes, escaped.
std::string Quoted(absl::string_view text);
// "@name", quoted where it must be.
std::string SymbolText(absl::string_view name);

// "[1, 2]"
std::string ListText(absl::Span<const int64_t> values);
// "array<i64: 1, 2>"
std::string ArrayText(absl::Span<const int64_t> values);
// "dense<[[0, 1], [2, 3]]> : tensor<2x2xi64>" from rows of equal length.
std::string RowsText(absl::Span<const int64_t> values, int64_t columns);

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_MLIR_TEXT_H_
