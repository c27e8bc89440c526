// Numbers as people read them. All of these round to nearest and never use
// exponents.
//
//   Significant(124.13, 4)        "124.1"
//   Duration(FromSeconds(0.1241)) "124.1 ms"
//   WithCommas(336226108)         "336,226,108"
//   Gibibytes(9771021000)         "9.10"
#ifndef PTXLA_REPORTS_FORMAT_H_
#define PTXLA_REPORTS_FORMAT_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"
#include "base/units.h"

namespace ptxla::reports {

// `digits` significant digits, all digits before the point kept: 12345.6 with
// 3 is "12346".
std::string Significant(double value, int digits);

struct TimeScale {
  const char* unit;  // "s", "ms", "us", "ns"
  double picoseconds;
};
// The largest unit in which the magnitude of `t` is at least 1.
TimeScale ScaleFor(Picoseconds t);
std::string Duration(Picoseconds t, int digits = 4);

std::string WithCommas(int64_t value);
// "2,063": at least 100 without decimals, below with three digits.
std::string Rate(double value);
std::string Gibibytes(int64_t bytes);
// "9.10 GiB", "1.50 MiB", "12 B".
std::string ByteSize(int64_t bytes);
// 0.342 -> "34.2 %".
std::string Percent(double fraction, int decimals = 1);
// A dollar amount with at least two decimals and two significant digits.
std::string Usd(double value);

// Pads with spaces to `width` characters of text (UTF-8 aware for the ASCII
// and Latin text that reports print).
std::string PadRight(absl::string_view text, int width);
std::string PadLeft(absl::string_view text, int width);

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_FORMAT_H_
