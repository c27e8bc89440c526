#include "driver/verification/verify_program.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "base/status.h"
#include "driver/verification/inputs.h"
#include "driver/verification/output_noise.h"
#include "hlo_backend/ir/computation.h"
#include "sim/simulator.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::PrimitiveType;
using hlo::Shape;

constexpr int kShownOutputs = 8;

// By the error's share of what is tolerated.
bool IsWorse(const OutputError& a, const OutputError& b) {
  if (a.tolerance == 0 || b.tolerance == 0) return Wrong(a) && !Wrong(b);
  return a.error.mean / a.tolerance > b.error.mean / b.tolerance;
}

std::string WrongKernel(const KernelError& e) {
  return absl::StrCat(e.name, e.layer.empty() ? "" : " ", e.layer, " result ",
                      e.result, " ", e.shape.ToStringWithLayout(), ", ",
                      Describe(e.error, e.shape));
}

std::string WrongOutput(const OutputError& o) {
  return absl::StrCat(o.name, " ", o.shape.ToStringWithLayout(), ", ",
                      Describe(o.error, o.shape));
}

// An f64 lies in memory as two f32, the rounded value first.
std::vector<uint8_t> MemoryBytes(Literal literal) {
  if (literal.shape().type() != PrimitiveType::kF64) {
    const absl::Span<const uint8_t> bytes = literal.mutable_bytes();
    return {bytes.begin(), bytes.end()};
  }
  std::vector<uint8_t> bytes(literal.ElementCount() * 8);
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    const double value = literal.GetDouble(i);
    const float high = static_cast<float>(value);
    const float rest =
        std::isfinite(high) ? static_cast<float>(value - high) : 0;
    const float parts[2] = {high, rest};
    std::memcpy(&bytes[8 * i], parts, 8);
  }
  return bytes;
}

absl::Status SetParameters(const std::vector<Literal>& arguments,
                           sim::ProgramData* data) {
  int number = 0;
  for (const Literal& argument : arguments) {
    absl::Status status;
    hlo::ForEachLeaf(
        argument.shape(), [&](const Shape& s, const hlo::ShapeIndex& at) {
          if (!s.IsArray() || !status.ok()) return;
          status = data->SetParameter(number++, MemoryBytes(argument.At(at)));
        });
    RETURN_IF_ERROR(status);
  }
  return absl::OkStatus();
}

// Returns the values of outputs that are wrong, nothing for others.
std::vector<Literal> CompareOutputs(const hlo::CompiledModule& compiled,
                                    const Literal& expected,
                                    sim::ProgramData* data,
                                    Verification* result) {
  std::vector<Literal> wrong;
  int number = 0;
  hlo::ForEachLeaf(compiled.module->entry()->root()->shape(),
                   [&](const Shape& s, const hlo::ShapeIndex& at) {
                     if (!s.IsArray()) return;
                     const isa::Leaf& leaf = compiled.program.outputs[number++];
                     OutputError o;
                     o.name = leaf.name;
                     o.shape = s;
                     if (IsRounded(s.type())) {
                       o.tolerance = Tolerance::Program(result->bits);
                     }
                     Literal actual = LiteralAt(s, leaf.where, data);
                     o.error = Compare(expected.At(at), actual);
                     wrong.push_back(Wrong(o) ? std::move(actual) : Literal());
                     result->outputs.push_back(std::move(o));
                   });
  return wrong;
}

}  // namespace

const OutputError* Verification::Worst() const {
  const OutputError* worst = nullptr;
  for (const OutputError& o : outputs) {
    if (worst == nullptr || IsWorse(o, *worst)) worst = &o;
  }
  return worst;
}

bool Verification::ok() const {
  const OutputError* worst = Worst();
  return wrong_kernel_count == 0 &&
         (worst == nullptr || !Wrong(*worst) || !ties.empty());
}

std::string Verification::Line() const {
  std::string line = absl::StrCat("verify ", program, ": ");
  const OutputError* worst = Worst();
  if (wrong_kernel_count > 0) {
    absl::StrAppend(&line, wrong_kernel_count, " of ", kernels,
                    " kernels are WRONG, the first is ",
                    WrongKernel(wrong_kernels.front()), "; ");
  }
  if (worst != nullptr && Wrong(*worst) && ties.empty()) {
    absl::StrAppend(&line, "an output is WRONG: ", WrongOutput(*worst), "; ");
  }
  absl::StrAppend(&line, outputs.size(), " outputs and ", kernels,
                  " kernels compared with the evaluator");
  if (worst != nullptr && std::isfinite(worst->error.mean)) {
    absl::StrAppendFormat(&line, ", largest error %.2g of %.2g (%s %s)",
                          worst->error.mean, worst->tolerance, worst->name,
                          hlo::PrimitiveTypeName(worst->shape.type()));
  } else if (worst != nullptr) {
    absl::StrAppend(&line, ", ", worst->error.differing, " elements differ (",
                    worst->name, " ",
                    hlo::PrimitiveTypeName(worst->shape.type()), ")");
  }
  const auto noisy =
      std::count_if(outputs.begin(), outputs.end(),
                    [](const OutputError& o) { return o.noise.has_value(); });
  if (noisy > 0) {
    absl::StrAppend(&line, ", ", noisy, " outputs within twice their noise");
  }
  if (!kernel.name.empty()) {
    absl::StrAppendFormat(&line, ", of one kernel %.2g of %.2g (%s)",
                          kernel.error.worst, kernel.tolerance, kernel.name);
  }
  if (!ties.empty()) {
    absl::StrAppend(
        &line, "; equal elements of ", ties.front(),
        ", which is not stable, came in another order",
        worst != nullptr && Wrong(*worst) ? ": outputs are not judged" : "");
  }
  if (!skipped.empty()) {
    absl::StrAppend(&line, "; ", skipped.size(),
                    " kernels could not be compared, e.g. ", skipped.front());
  }
  return line;
}

std::string Verification::Details() const {
  std::string text;
  for (const KernelError& e : wrong_kernels) {
    absl::StrAppend(&text, "wrong kernel ", WrongKernel(e), "\n");
  }
  int shown = 0;
  for (const OutputError& o : outputs) {
    if (!ties.empty() || !Wrong(o) || ++shown > kShownOutputs) continue;
    absl::StrAppend(&text, "wrong output ", WrongOutput(o), "\n");
  }
  if (shown > kShownOutputs) {
    absl::StrAppend(&text, "and ", shown - kShownOutputs, " more outputs\n");
  }
  return text;
}

absl::Status ExecuteBundles(
    const isa::Program& program, const chips::Slice& slice,
    const std::vector<Literal>& arguments,
    const isa::InterpreterOptions& interpreter, sim::KernelObserver* observer,
    const std::function<void(sim::ProgramData*)>& finish) {
  sim::ProgramDataOptions memory;
  memory.interpreter = interpreter;
  memory.fill = 0xFF;
  memory.observer = observer;
  sim::ProgramData data(program, slice, memory);
  RETURN_IF_ERROR(SetParameters(arguments, &data));
  sim::SimOptions simulate;
  simulate.fidelity = sim::Fidelity::kBundle;
  simulate.engine = sim::Engine::kPlain;
  simulate.transfers = false;
  simulate.data = &data;
  RETURN_IF_ERROR(sim::Simulate(program, slice, simulate).status());
  if (finish) finish(&data);
  return absl::OkStatus();
}

absl::StatusOr<Verification> VerifyProgram(const hlo::Module& input,
                                           const hlo::CompiledModule& compiled,
                                           const chips::Slice& slice,
                                           const VerifyOptions& options) {
  const std::vector<Literal> arguments = options.arguments.empty()
                                             ? MakeInputs(input, options.seed)
                                             : options.arguments;
  hlo::EvaluatorOptions evaluator;
  evaluator.tpu_mode = true;
  evaluator.tpu_generation = slice.chip.generation();
  evaluator.seed = 0;  // what compiled programs draw `rng` from
  evaluator.mirror_missing_devices = true;
  ASSIGN_OR_RETURN(const Literal expected,
                   hlo::Evaluate(input, arguments, evaluator),
                   _ << "evaluating " << input.name());

  KernelCheck check(compiled, evaluator);
  Verification result;
  result.program = input.name();
  for (const hlo::Computation* c : input.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      result.bits = std::min(result.bits, NarrowestFloat(*i));
    }
  }
  std::vector<Literal> values;
  isa::InterpreterOptions interpreter;
  interpreter.semantics = options.semantics;
  RETURN_IF_ERROR(ExecuteBundles(
      compiled.program, slice, arguments, interpreter, &check,
      [&](sim::ProgramData* data) {
        values = CompareOutputs(compiled, expected, data, &result);
      }))
      << "executing the bundles of " << input.name();
  const NoisyProgram noisy{input, arguments, expected, evaluator, result.bits};
  RETURN_IF_ERROR(JudgeByNoise(noisy, values, &result.outputs))
      << "evaluating " << input.name() << " without rounding";
  result.kernels = check.kernels();
  result.kernel = check.largest();
  result.wrong_kernels = check.wrong();
  result.wrong_kernel_count = check.wrong_count();
  result.skipped = check.skipped();
  result.ties = check.ties();
  return result;
}

}  // namespace ptxla::driver
