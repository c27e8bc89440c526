#include "driver/verification/value_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "driver/verification/exact_value.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::PrimitiveType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

using Number = std::complex<double>;

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
}
bool IsNan(Number x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
bool Same(Number a, Number b) {
  return (IsNan(a) && IsNan(b)) ||
         (Same(a.real(), b.real()) && Same(a.imag(), b.imag()));
}

// "{2,0,17}".
std::string Index(int64_t position, const hlo::Shape& shape) {
  std::vector<int64_t> index(shape.rank());
  for (int d = shape.rank() - 1; d >= 0; --d) {
    index[d] = position % shape.dim(d);
    position /= shape.dim(d);
  }
  return absl::StrCat("{", absl::StrJoin(index, ","), "}");
}

void CountDifference(int64_t i, ValueError* error) {
  if (error->differing++ == 0) error->first = i;
  error->last = i;
}

// A float as a complex number.
Number NumberAt(const Literal& literal, int64_t i) {
  return hlo::IsComplex(literal.shape().type()) ? literal.GetComplex(i)
                                                : literal.GetDouble(i);
}

bool IsFinite(Number x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

double Magnitude(Number x) {
  return x.imag() == 0 ? std::fabs(x.real()) : std::abs(x);
}

ValueError CompareFloats(const Literal& expected, const Literal& actual) {
  ValueError error;
  double scale = 0, squares = 0, difference = 0;
  const int64_t n = expected.ElementCount();
  for (int64_t i = 0; i < n; ++i) {
    const Number e = NumberAt(expected, i);
    if (!IsFinite(e)) continue;
    scale = std::max(scale, Magnitude(e));
    squares += std::norm(e);
  }
  for (int64_t i = 0; i < n; ++i) {
    const Number e = NumberAt(expected, i), a = NumberAt(actual, i);
    if (Same(e, a)) continue;
    CountDifference(i, &error);
    const double d = Magnitude(e - a);
    double relative = d / (Magnitude(e) + scale);
    if (!IsFinite(e) || !IsFinite(a)) relative = kInfinity;
    difference += d * d;
    if (relative > error.worst || error.at < 0) {
      error.worst = relative;
      error.at = i;
      error.expected = e;
      error.actual = a;
    }
  }
  if (error.differing > 0) {
    error.mean = std::sqrt(difference / squares);
    if (!std::isfinite(error.mean)) error.mean = kInfinity;
  }
  return error;
}

ValueError CompareIntegers(const Literal& expected, const Literal& actual) {
  ValueError error;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const int64_t e = expected.GetInt(i), a = actual.GetInt(i);
    if (e == a) continue;
    CountDifference(i, &error);
    if (error.differing > 1) continue;
    error.worst = error.mean = kInfinity;
    error.at = i;
    error.expected = static_cast<double>(e);
    error.actual = static_cast<double>(a);
  }
  return error;
}

std::string Text(Number x) {
  if (x.imag() == 0) return absl::StrCat(x.real());
  return absl::StrCat("(", x.real(), ", ", x.imag(), ")");
}

}  // namespace

bool IsRounded(PrimitiveType type) {
  return hlo::IsFloat(type) || hlo::IsComplex(type);
}

ValueError Compare(const Literal& expected, const Literal& actual) {
  // Most are the same bits.
  if (expected.bytes() == actual.bytes()) return {};
  return IsRounded(expected.shape().type()) ? CompareFloats(expected, actual)
                                            : CompareIntegers(expected, actual);
}

ValueError CompareInWiderRange(const Literal& expected, const Literal& exact,
                               const Literal& actual) {
  if (!hlo::IsFloat(expected.shape().type())) return Compare(expected, actual);
  Literal nearest = Widened(expected);
  nearest.mutable_bytes();
  Literal stored(actual.shape());
  stored.mutable_bytes();
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    const double e = expected.GetDouble(i), wide = exact.GetDouble(i),
                 a = actual.GetDouble(i);
    const bool overflows =
        !std::isfinite(e) && std::isfinite(wide) && std::isfinite(a);
    stored.SetDouble(i, wide);
    const bool has_no_infinity =
        std::isnan(e) && std::isinf(a) && a == stored.GetDouble(i);
    const bool underflows = e == 0 && wide != 0 && a != 0;
    if (overflows || underflows) nearest.SetDouble(i, wide);
    if (has_no_infinity) nearest.SetDouble(i, a);
  }
  return Compare(nearest, actual);
}

std::string Describe(const ValueError& error, const hlo::Shape& shape) {
  if (error.at < 0) return "equal";
  return absl::StrCat("at ", Index(error.at, shape), " expected ",
                      Text(error.expected), ", got ", Text(error.actual), "; ",
                      error.differing, " of ", shape.ElementCount(),
                      " differ, ", Index(error.first, shape), " to ",
                      Index(error.last, shape));
}

double Tolerance::Kernel(int bits) {
  // A last bit of bf16 is 2^-8 of the number; and sums of thousands of f32.
  return bits <= 16 ? 0x1p-7 : 2e-5;
}

double Tolerance::Program(int bits) { return bits <= 16 ? 0x1p-6 : 1e-3; }

}  // namespace ptxla::driver
