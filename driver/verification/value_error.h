// How far two arrays are apart, and how far they may be.
//
// Floats: an element's error is |expected - actual| / (|expected| + scale),
// where scale is the largest |expected| of the array: relative for large
// elements, and relative to the array where sums have cancelled. NaN equals
// NaN, infinities equal themselves; anything else not finite is an error of
// infinity. Of complex numbers the sizes are lengths. Integers, predicates and
// tokens must be equal.
//
//   const ValueError e = Compare(expected, actual);
//   if (e.worst > Tolerance::Kernel(16)) ...
#ifndef PTXLA_DRIVER_VERIFICATION_VALUE_ERROR_H_
#define PTXLA_DRIVER_VERIFICATION_VALUE_ERROR_H_

#include <complex>
#include <cstdint>
#include <string>

#include "hlo_backend/ir/literal.h"

namespace ptxla::driver {

struct ValueError {
  double worst = 0;  // of one element
  double mean = 0;   // root of (sum of squared errors / sum of squares)
  int64_t at = -1;   // the worst element, row major; -1: all are equal
  std::complex<double> expected = 0, actual = 0;  // there
  int64_t differing = 0;          // elements that are not the same
  int64_t first = -1, last = -1;  // of them
};

bool IsRounded(hlo::PrimitiveType type);  // floats and complex numbers

// Arrays of one shape.
ValueError Compare(const hlo::Literal& expected, const hlo::Literal& actual);

// The same where `exact`, computed in f32, may stand for elements that a
// narrower float does not hold and f32 does: whoever keeps f32 finds those.
// They overflow it, are too small for it, or are infinite where it has no
// infinity (and a NaN instead).
ValueError CompareInWiderRange(const hlo::Literal& expected,
                               const hlo::Literal& exact,
                               const hlo::Literal& actual);

// "at {0,17} expected 1.5, got 2; 3 of 128 differ, {0,17} to {0,90}".
std::string Describe(const ValueError& error, const hlo::Shape& shape);

// What is allowed for numbers of a float type of so many bits.
//
// Of a kernel, for its worst element: it and the evaluator got the same
// operands, so only the order of sums and the last rounding differ. The type is
// the narrowest that the kernel computes in: where the HLO rounds to bf16 on
// the way, a kernel may do so or keep f32.
//
// Of a program, for the mean error of an output: those differences have gone
// through all its kernels, and where a value is decided by a rounding (a sign,
// a maximum) single elements may be anything.
struct Tolerance {
  static double Kernel(int bits);
  static double Program(int bits);
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_VALUE_ERROR_H_
