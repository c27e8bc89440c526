#include "tests/hlo_backend/evaluator/evaluate_text.h"

#include <cmath>
#include <complex>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/ir/parser.h"

namespace ptxla::hlo {

absl::StatusOr<Literal> EvaluateText(absl::string_view text,
                                     const std::vector<Literal>& arguments,
                                     const EvaluatorOptions& options) {
  ASSIGN_OR_RETURN(const auto module, ParseModule(text));
  return Evaluate(*module, arguments, options);
}

std::string ValueOf(absl::string_view text,
                    const std::vector<Literal>& arguments) {
  const auto result = EvaluateText(text, arguments);
  if (!result.ok()) return std::string(result.status().message());
  return result->ToString();
}

std::vector<Literal> Flatten(const Literal& literal) {
  if (!literal.IsTuple()) return {literal};
  std::vector<Literal> leaves;
  for (const Literal& element : literal.elements()) {
    for (Literal& leaf : Flatten(element)) leaves.push_back(std::move(leaf));
  }
  return leaves;
}

std::string Difference(const Literal& got, const Literal& want,
                       double tolerance) {
  if (!got.shape().SameDimsAndType(want.shape())) {
    return absl::StrCat("shape ", got.shape().ToString(), ", not ",
                        want.shape().ToString());
  }
  const bool complex = IsComplex(want.shape().type());
  const bool integer = !complex && !IsFloat(want.shape().type());
  auto part = [&](const Literal& l, int64_t i, int which) {
    if (!complex) return l.GetDouble(i);
    const std::complex<double> z = l.GetComplex(i);
    return which == 0 ? z.real() : z.imag();
  };
  double largest = 0;
  for (int64_t i = 0; i < want.ElementCount(); ++i) {
    for (int which = 0; which < (complex ? 2 : 1); ++which) {
      const double w = part(want, i, which);
      if (std::isfinite(w)) largest = std::fmax(largest, std::fabs(w));
    }
  }
  for (int64_t i = 0; i < want.ElementCount(); ++i) {
    if (integer) {
      if (got.GetInt(i) != want.GetInt(i)) {
        return absl::StrCat("element ", i, " is ", got.GetInt(i), ", not ",
                            want.GetInt(i));
      }
      continue;
    }
    for (int which = 0; which < (complex ? 2 : 1); ++which) {
      const double g = part(got, i, which);
      const double w = part(want, i, which);
      const bool same = std::isnan(w) ? std::isnan(g)
                        : std::isinf(w)
                            ? g == w
                            : std::fabs(g - w) <= tolerance * largest;
      if (!same) {
        return absl::StrCat("element ", i, " is ", g, ", not ", w, " (largest ",
                            largest, ")");
      }
    }
  }
  return "";
}

}  // namespace ptxla::hlo
