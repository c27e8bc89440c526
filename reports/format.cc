#include "reports/format.h"

#include <algorithm>
#include <cmath>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"

namespace ptxla::reports {

std::string Significant(double value, int digits) {
  // The number of digits before the point is that of the rounded value:
  // 9.996 with 3 digits is "10.0", not "10.00".
  int decimals = digits - 1;
  for (double limit = 10; decimals > 0; limit *= 10, --decimals) {
    if (std::abs(value) < limit - 0.5 * std::pow(10.0, -decimals)) break;
  }
  if (value != 0 && std::abs(value) < 1) {
    decimals = digits;
    for (double limit = 0.1; std::abs(value) < limit && decimals < 15;
         limit /= 10) {
      ++decimals;
    }
  }
  return absl::StrFormat("%.*f", decimals, value);
}

TimeScale ScaleFor(Picoseconds t) {
  const int64_t ps = std::abs(t.count());
  if (ps >= 1000000000000) return {"s", 1e12};
  if (ps >= 1000000000) return {"ms", 1e9};
  if (ps >= 1000000) return {"us", 1e6};
  return {"ns", 1e3};
}

std::string Duration(Picoseconds t, int digits) {
  const TimeScale scale = ScaleFor(t);
  return absl::StrCat(
      Significant(static_cast<double>(t.count()) / scale.picoseconds, digits),
      " ", scale.unit);
}

std::string WithCommas(int64_t value) {
  std::string text = absl::StrCat(std::abs(value));
  for (int at = static_cast<int>(text.size()) - 3; at > 0; at -= 3) {
    text.insert(at, ",");
  }
  return value < 0 ? absl::StrCat("-", text) : text;
}

std::string Rate(double value) {
  return value >= 99.5 ? WithCommas(std::llround(value))
                       : Significant(value, 3);
}

std::string Gibibytes(int64_t bytes) {
  const double gib = static_cast<double>(bytes) / (1 << 30);
  return gib >= 10 ? absl::StrFormat("%.2f", gib) : Significant(gib, 3);
}

std::string ByteSize(int64_t bytes) {
  const auto b = static_cast<double>(bytes);
  if (b >= 0.5 * (1 << 30)) return absl::StrCat(Gibibytes(bytes), " GiB");
  if (b >= (1 << 20)) {
    return absl::StrCat(Significant(b / (1 << 20), 3), " MiB");
  }
  if (b >= (1 << 10)) {
    return absl::StrCat(Significant(b / (1 << 10), 3), " KiB");
  }
  return absl::StrCat(bytes, " B");
}

std::string Percent(double fraction, int decimals) {
  return absl::StrFormat("%.*f %%", decimals, fraction * 100);
}

std::string Usd(double value) {
  return absl::StrCat("$", std::abs(value) >= 0.1 || value == 0
                               ? absl::StrFormat("%.2f", value)
                               : Significant(value, 2));
}

namespace {
int Width(absl::string_view text) {
  return static_cast<int>(std::count_if(
      text.begin(), text.end(), [](char c) { return (c & 0xc0) != 0x80; }));
}
}  // namespace

std::string PadRight(absl::string_view text, int width) {
  return absl::StrCat(text, std::string(std::max(0, width - Width(text)), ' '));
}
std::string PadLeft(absl::string_view text, int width) {
  return absl::StrCat(std::string(std::max(0, width - Width(text)), ' '), text);
}

}  // namespace ptxla::reports
