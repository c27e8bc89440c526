#include "driver/evaluate.h"

#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/strip.h"
#include "base/status.h"
#include "driver/hlo_input.h"
#include "driver/stage.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/npz.h"

namespace ptxla::driver {
namespace {

constexpr size_t kShownCharacters = 100;

// "arg12" -> 12; -1: another name.
int ArgumentNumber(absl::string_view name) {
  int number = -1;
  if (!absl::ConsumePrefix(&name, "arg") || !absl::SimpleAtoi(name, &number)) {
    return -1;
  }
  return number;
}

using Array = std::pair<std::string, hlo::Literal>;

// The array as argument `number` of this shape. One without a type of its own
// ("arg0.V2", npz.h) takes that of the shape.
absl::StatusOr<hlo::Literal> AsArgument(const Array& array, int number,
                                        const hlo::Shape& want) {
  const auto& [name, literal] = array;
  const bool bytes_only = absl::StrContains(name, ".V");
  if (bytes_only && literal.shape().SameDims(want) &&
      !hlo::IsComplex(want.type()) &&
      hlo::StorageBytes(want.type()) == literal.element_bytes()) {
    return hlo::Literal::FromBytes(
        want,
        std::vector<uint8_t>(literal.bytes().begin(), literal.bytes().end()));
  }
  if (!bytes_only && literal.shape().SameDimsAndType(want)) return literal;
  const std::string got =
      bytes_only ? absl::StrCat(literal.element_bytes(), "-byte elements [",
                                absl::StrJoin(literal.shape().dims(), ","), "]")
                 : literal.shape().ToString();
  return absl::InvalidArgumentError(absl::StrCat(
      "arg", number, " is ", got, ", but the program takes ", want.ToString()));
}

// Arrays in order become the leaves of `shape`.
absl::StatusOr<hlo::Literal> Assemble(const hlo::Shape& shape,
                                      absl::Span<const Array* const> arrays,
                                      int* next) {
  if (!shape.IsTuple()) {
    const int number = (*next)++;
    return AsArgument(*arrays[number], number, shape);
  }
  std::vector<hlo::Literal> elements;
  for (const hlo::Shape& element : shape.elements()) {
    ASSIGN_OR_RETURN(hlo::Literal literal, Assemble(element, arrays, next));
    elements.push_back(std::move(literal));
  }
  return hlo::Literal::Tuple(std::move(elements));
}

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
  int wanted = 0;
  for (const hlo::Instruction* p : module.entry()->parameters()) {
    wanted += static_cast<int>(p->shape().LeafCount());
  }
  const std::string takes =
      absl::StrCat(module.name(), " takes ", wanted, " arguments");
  std::vector<const Array*> found(wanted);
  for (const Array& entry : named) {
    const int number = ArgumentNumber(
        absl::string_view(entry.first).substr(0, entry.first.find(".V")));
    if (number >= wanted) {
      return absl::InvalidArgumentError(
          absl::StrCat(options.inputs, " has arg", number, "; ", takes));
    }
    if (number >= 0) found[number] = &entry;
  }
  for (int i = 0; i < wanted; ++i) {
    if (found[i] != nullptr) continue;
    return absl::InvalidArgumentError(
        absl::StrCat(options.inputs, " has no arg", i, "; ", takes));
  }
  std::vector<hlo::Literal> arguments;
  int next = 0;
  for (const hlo::Instruction* p : module.entry()->parameters()) {
    ASSIGN_OR_RETURN(hlo::Literal argument, Assemble(p->shape(), found, &next),
                     _ << options.inputs);
    arguments.push_back(std::move(argument));
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
  HloInputOptions read;
  read.elided = options.elided;
  read.sizes = options.sizes;
  read.module = options.hlo_module;
  read.stage = options.hlo_stage;
  ASSIGN_OR_RETURN(const HloInput input, ReadHlo(options.module, read));
  auto arguments = ReadInputs(input, options);
  if (!arguments.ok()) return At("input", arguments.status());
  hlo::EvaluatorOptions evaluator;
  evaluator.tpu_mode = options.tpu;
  evaluator.seed = options.seed;
  evaluator.mirror_missing_devices = true;
  auto result = hlo::Evaluate(*input.module, *arguments, evaluator);
  if (!result.ok()) {
    return At("evaluate", InFile(input.path, result.status()));
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
