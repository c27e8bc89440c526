#include "driver/evaluate.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/hlo_input.h"
#include "driver/stage.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/npz.h"

namespace ptxla::driver {
namespace {

constexpr size_t kShownCharacters = 100;

absl::StatusOr<std::vector<hlo::Literal>> ReadInputs(
    const HloInput& input, const EvaluateOptions& options) {
  const hlo::Module& module = *input.module;
  if (options.inputs.empty() && !input.arguments.empty()) {
    return input.arguments;
  }
  if (options.inputs.empty()) {
    return hlo::RandomArguments(module, options.seed);
  }
  ASSIGN_OR_RETURN(const hlo::NamedLiterals named,
                   hlo::ReadNpz(options.inputs));
  std::vector<hlo::Literal> arguments;
  const int wanted = module.entry()->parameter_count();
  for (int i = 0; i < wanted; ++i) {
    const std::string name = absl::StrCat("arg", i);
    const hlo::Literal* found = nullptr;
    for (const auto& [key, literal] : named) {
      if (key == name) found = &literal;
    }
    if (found == nullptr) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.inputs, " has no ", name, "; ", module.name(),
                       " takes ", wanted, " arguments"));
    }
    arguments.push_back(*found);
  }
  return arguments;
}

void Flatten(hlo::Literal value, hlo::NamedLiterals* out) {
  if (!value.IsTuple()) {
    out->push_back({absl::StrCat("out", out->size()), std::move(value)});
    return;
  }
  for (hlo::Literal& element : *value.mutable_elements()) {
    Flatten(std::move(element), out);
  }
}

}  // namespace

absl::StatusOr<std::string> EvaluateFile(const EvaluateOptions& options) {
  ASSIGN_OR_RETURN(const HloInput input,
                   ReadHlo(options.module, {options.elided, "", ""}));
  auto arguments = ReadInputs(input, options);
  if (!arguments.ok()) return At("input", arguments.status());
  hlo::EvaluatorOptions evaluator;
  evaluator.tpu_mode = options.tpu;
  evaluator.seed = options.seed;
  evaluator.mirror_missing_devices = true;
  auto result = hlo::Evaluate(*input.module, *arguments, evaluator);
  if (!result.ok()) {
    return At("evaluate", AddContext(result.status(), options.module));
  }
  hlo::NamedLiterals outputs;
  Flatten(*std::move(result), &outputs);
  if (!options.out.empty()) {
    RETURN_IF_ERROR(At("output", hlo::WriteNpz(options.out, outputs)));
  }
  std::string text;
  for (const auto& [name, literal] : outputs) {
    std::string value = literal.ToString();
    if (value.size() > kShownCharacters) {
      value = absl::StrCat(value.substr(0, kShownCharacters), " ...");
    }
    absl::StrAppend(&text, name, " ", literal.shape().ToString(), " ", value,
                    "\n");
  }
  return text;
}

}  // namespace ptxla::driver
