#include "driver/verification/value_error.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::PrimitiveType;

constexpr double kInfinity = std::numeric_limits<double>::infinity();

bool Same(double a, double b) {
  return a == b || (std::isnan(a) && std::isnan(b));
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

ValueError CompareFloats(const Literal& expected, const Literal& actual) {
  ValueError error;
  double scale = 0, squares = 0, difference = 0;
  const int64_t n = expected.ElementCount();
  for (int64_t i = 0; i < n; ++i) {
    const double e = expected.GetDouble(i);
    if (!std::isfinite(e)) continue;
    scale = std::max(scale, std::fabs(e));
    squares += e * e;
  }
  for (int64_t i = 0; i < n; ++i) {
    const double e = expected.GetDouble(i), a = actual.GetDouble(i);
    if (Same(e, a)) continue;
    CountDifference(i, &error);
    const double d = std::fabs(e - a);
    double relative = d / (std::fabs(e) + scale);
    if (!std::isfinite(e) || !std::isfinite(a)) relative = kInfinity;
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

ValueError CompareComplex(const Literal& expected, const Literal& actual) {
  ValueError error;
  for (int64_t i = 0; i < expected.ElementCount(); ++i) {
    if (expected.GetComplex(i) == actual.GetComplex(i)) continue;
    CountDifference(i, &error);
    error.at = i;
    error.worst = error.mean = kInfinity;
  }
  return error;
}

}  // namespace

ValueError Compare(const Literal& expected, const Literal& actual) {
  const PrimitiveType type = expected.shape().type();
  if (hlo::IsComplex(type)) return CompareComplex(expected, actual);
  return hlo::IsFloat(type) ? CompareFloats(expected, actual)
                            : CompareIntegers(expected, actual);
}

std::string Describe(const ValueError& error, const hlo::Shape& shape) {
  if (error.at < 0) return "equal";
  return absl::StrCat(
      "at ", Index(error.at, shape), " expected ", error.expected, ", got ",
      error.actual, "; ", error.differing, " of ", shape.ElementCount(),
      " differ, ", Index(error.first, shape), " to ", Index(error.last, shape));
}

double Tolerance::Kernel(int bits) {
  // A last bit of bf16 is 2^-8 of the number; and sums of thousands of f32.
  return bits <= 16 ? 0x1p-7 : 2e-5;
}

double Tolerance::Program(int bits) { return bits <= 16 ? 0x1p-6 : 1e-3; }

}  // namespace ptxla::driver
