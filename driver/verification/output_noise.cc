#include "driver/verification/output_noise.h"

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "base/status.h"
#include "driver/verification/exact_value.h"
#include "driver/verification/kernel_noise.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::Shape;

constexpr double kLastBitOfBf16 = 0x1p-8;  // relative, at most

// Twice the noise of floats; of integers (tokens that were drawn, places of
// maxima) twice the elements that noise decides.
void AllowNoise(std::initializer_list<ValueError> noises, OutputError* o) {
  if (IsRounded(o->shape.type())) {
    o->noise = 0;
    for (const ValueError& e : noises) {
      if (std::isfinite(e.mean)) o->noise = std::max(*o->noise, e.mean);
    }
    o->tolerance = std::max(o->tolerance, 2 * *o->noise);
    return;
  }
  for (const ValueError& e : noises) {
    if (o->error.differing > 2 * e.differing) continue;
    o->noise = e.mean;
    o->tolerance = o->error.mean;
  }
}

// Against values without roundings, and those of arguments slightly off.
absl::Status JudgeByExactValues(const NoisyProgram& p,
                                absl::Span<const Literal> values,
                                std::vector<OutputError>* outputs) {
  ASSIGN_OR_RETURN(const Literal exact,
                   EvaluateWidened(p.input, p.arguments, p.options));
  ASSIGN_OR_RETURN(
      const Literal off,
      EvaluateWidened(p.input, SlightlyOff(p.arguments, false), p.options));
  ASSIGN_OR_RETURN(
      const Literal opposite,
      EvaluateWidened(p.input, SlightlyOff(p.arguments, true), p.options));
  size_t number = 0;
  hlo::ForEachLeaf(exact.shape(), [&](const Shape& s,
                                      const hlo::ShapeIndex& at) {
    if (!s.IsArray()) return;
    const Literal& actual = values[number];
    OutputError& o = (*outputs)[number++];
    if (!Wrong(o)) return;
    const auto error = [&](const Literal& value) {
      return CompareInWiderRange(p.expected.At(at), exact.At(at), value);
    };
    o.error = error(actual);
    AllowNoise({error(exact.At(at)), error(off.At(at)), error(opposite.At(at))},
               &o);
  });
  return absl::OkStatus();
}

bool IsOpen(const OutputError& o) {
  return Wrong(o) && !IsRounded(o.shape.type());
}

// Where the program rounds to bf16 on the way, what it compares may be off by a
// last bit, and a plateau of equal values falls to the other side.
absl::Status JudgeByNarrowRoundings(const NoisyProgram& p,
                                    std::vector<OutputError>* outputs) {
  for (const double off : {kLastBitOfBf16, -kLastBitOfBf16}) {
    ASSIGN_OR_RETURN(const Literal noisy,
                     EvaluateWidened(p.input, p.arguments, p.options, off));
    size_t number = 0;
    hlo::ForEachLeaf(
        noisy.shape(), [&](const Shape& s, const hlo::ShapeIndex& at) {
          if (!s.IsArray()) return;
          OutputError& o = (*outputs)[number++];
          if (!IsOpen(o)) return;
          AllowNoise({Compare(p.expected.At(at), noisy.At(at))}, &o);
        });
  }
  return absl::OkStatus();
}

}  // namespace

absl::Status JudgeByNoise(const NoisyProgram& program,
                          absl::Span<const Literal> values,
                          std::vector<OutputError>* outputs) {
  if (std::none_of(outputs->begin(), outputs->end(), Wrong)) {
    return absl::OkStatus();
  }
  RETURN_IF_ERROR(JudgeByExactValues(program, values, outputs));
  if (program.bits <= 16 &&
      std::any_of(outputs->begin(), outputs->end(), IsOpen)) {
    RETURN_IF_ERROR(JudgeByNarrowRoundings(program, outputs));
  }
  return absl::OkStatus();
}

}  // namespace ptxla::driver
