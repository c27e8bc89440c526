// Convolutions as text, and what a pass makes of them, with the same results.
#ifndef PTXLA_TESTS_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_FORMS_H_
#define PTXLA_TESTS_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_FORMS_H_

#include <random>
#include <string>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/substitute.h"
#include "chips/chip_spec.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {

inline Literal SmallNumbers(const Shape& shape, uint32_t seed) {
  Literal literal(shape);
  std::mt19937 random(seed);
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    literal.SetDouble(i, static_cast<double>(random() % 7) - 3);
  }
  return literal;
}

// The module after the pass, with the same results.
inline std::string Converted(const std::string& text, const std::string& pass) {
  const auto chip = chips::ChipSpec::Load("v5e");
  auto module = ParseModule(text, "m");
  EXPECT_OK(chip.status());
  EXPECT_OK(module.status());
  if (!chip.ok() || !module.ok()) return "";
  std::vector<Literal> inputs;
  inputs.reserve((*module)->entry()->parameter_count());
  for (int p = 0; p < (*module)->entry()->parameter_count(); ++p) {
    inputs.push_back(
        SmallNumbers((*module)->entry()->parameter(p)->shape(), p + 1));
  }
  const auto expected = Evaluate(**module, inputs);
  auto pipeline = Pipeline::FromNames(pass);
  EXPECT_OK(pipeline.status());
  PassContext context;
  context.chip = &*chip;
  PipelineOptions options;
  options.verify = true;
  EXPECT_OK(pipeline->Run(module->get(), context, options).status());
  const auto actual = Evaluate(**module, inputs);
  EXPECT_OK(expected.status());
  EXPECT_OK(actual.status());
  if (!expected.ok() || !actual.ok()) return "";
  EXPECT_EQ(expected->ElementCount(), actual->ElementCount());
  for (int64_t i = 0; i < expected->ElementCount(); ++i) {
    if (expected->GetDouble(i) == actual->GetDouble(i)) continue;
    ADD_FAILURE() << "element " << i << ": " << actual->GetDouble(i)
                  << " instead of " << expected->GetDouble(i) << " in\n"
                  << text << Print(**module);
    break;
  }
  return Print(**module);
}

// x, w, result, window, dimension numbers.
inline std::string Convolution(const char* x, const char* w, const char* out,
                               const char* window, const char* labels,
                               const char* type = "f32") {
  return absl::Substitute(
      "HloModule m\nENTRY e {\n  x = $0[$1] parameter(0)\n"
      "  w = $0[$2] parameter(1)\n"
      "  ROOT c = f32[$3] convolution(x, w), window={$4}, dim_labels=$5\n}\n",
      type, x, w, out, window, labels);
}

inline std::string WithGroups(const std::string& text, const char* kind,
                              int groups) {
  const std::string numbers = "dim_labels=";
  return absl::StrReplaceAll(
      text, {{numbers, absl::StrCat(kind, "=", groups, ", ", numbers)}});
}

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_FORMS_H_
