#include "driver/verification/kernel_noise.h"

#include <algorithm>
#include <cmath>

#include "base/numerics/random.h"
#include "driver/verification/exact_value.h"
#include "driver/verification/value_error.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::driver {
namespace {

using hlo::Instruction;
using hlo::Literal;

// Of an f32, relative: the error of a sum of 64 numbers, if each addition's
// last bit is as often too large as too small.
constexpr double kOff = 8 * 0x1p-24;

// By one to two times kOff, so that what two operands add to a product or a
// difference does not cancel.
Literal Nudged(Literal x, uint64_t stream, bool opposite) {
  if (x.shape().type() != hlo::PrimitiveType::kF32 || x.IsElided()) return x;
  for (int64_t i = 0; i < x.ElementCount(); ++i) {
    const uint32_t word = numerics::HardwareRandomWord(stream, 0, i);
    const double off = kOff * (1 + (word >> 1 & 0xFF) * 0x1p-8);
    x.SetDouble(
        i, x.GetDouble(i) * (1 + ((word % 2 == 0) != opposite ? off : -off)));
  }
  return x;
}

absl::StatusOr<Literal> Value(const Instruction& kernel,
                              const std::vector<Literal>& operands,
                              hlo::EvaluatorOptions options) {
  if (kernel.opcode() == hlo::Opcode::kFusion) {
    hlo::Module alone("kernel");
    hlo::Module::ComputationMap copied;
    alone.SetEntry(
        alone.CloneComputation(*kernel.to_apply(), "kernel", &copied));
    return EvaluateWidened(alone, operands, options);
  }
  std::vector<const Literal*> pointers;
  pointers.reserve(operands.size());
  for (const Literal& l : operands) pointers.push_back(&l);
  options.tpu_mode = false;
  return hlo::EvaluateInstruction(kernel, pointers, options);
}

}  // namespace

std::vector<Literal> SlightlyOff(absl::Span<const Literal> values,
                                 bool opposite) {
  std::vector<Literal> off;
  for (const Literal& x : values) {
    off.push_back(x.IsTuple() ? x : Nudged(Widened(x), off.size(), opposite));
  }
  return off;
}

KernelNoise::KernelNoise(const Instruction& kernel,
                         const std::vector<Literal>& operands,
                         const hlo::EvaluatorOptions& options)
    : exact_(absl::UnimplementedError("one rounding")),
      off_(absl::UnimplementedError("narrow floats")),
      opposite_(absl::UnimplementedError("narrow floats")) {
  const bool is_fusion = kernel.opcode() == hlo::Opcode::kFusion;
  if (is_fusion) exact_ = Value(kernel, operands, options);
  const bool is_narrow =
      std::any_of(operands.begin(), operands.end(),
                  [](const Literal& x) { return HasNarrow(x.shape()); });
  if (is_fusion || !is_narrow) {
    off_ = Value(kernel, SlightlyOff(operands, false), options);
    opposite_ = Value(kernel, SlightlyOff(operands, true), options);
  }
}

ValueError KernelNoise::Error(const Literal& expected,
                              const hlo::ShapeIndex& at,
                              const Literal& actual) const {
  return exact_.ok() ? CompareInWiderRange(expected, exact_->At(at), actual)
                     : Compare(expected, actual);
}

double KernelNoise::Of(const Literal& expected,
                       const hlo::ShapeIndex& at) const {
  double noise = 0;
  for (const absl::StatusOr<Literal>* value : {&exact_, &off_, &opposite_}) {
    if (!value->ok()) continue;
    const double worst = Error(expected, at, (*value)->At(at)).worst;
    if (std::isfinite(worst)) noise = std::max(noise, worst);
  }
  return noise;
}

int64_t KernelNoise::Differing(const Literal& expected,
                               const hlo::ShapeIndex& at) const {
  int64_t differing = 0;
  for (const absl::StatusOr<Literal>* value : {&exact_, &off_, &opposite_}) {
    if (!value->ok()) continue;
    differing =
        std::max(differing, Compare(expected, (*value)->At(at)).differing);
  }
  return differing;
}

}  // namespace ptxla::driver
