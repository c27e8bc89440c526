#include "driver/validation_floors.h"

#include <algorithm>
#include <array>
#include <cmath>

#include "base/units.h"

namespace ptxla::driver {
namespace {

using Constants = std::array<double, 3>;

Roofline FromConstants(const Constants& c) { return {c[0], c[1], c[2]}; }

double MeanError(const std::vector<const ValidatedRow*>& rows,
                 const Roofline& roofline) {
  double sum = 0;
  for (const ValidatedRow* row : rows) {
    sum += std::abs(roofline.Time(*row) / *row->row.time_us - 1);
  }
  return sum / static_cast<double>(std::max<size_t>(rows.size(), 1));
}

// The napkin's four constants (v6e, products in bf16) and its share, as they
// are stated with the measurements: a floor to beat. No prediction has them.
constexpr double kStartUs = 2.0;       // us, of every kernel
constexpr double kBytesPerUs = 1.4e6;  // HBM
constexpr double kMxuShare = 0.88;     // of the peak
constexpr double kVmemBytes = 128e6;
constexpr double kAloneShare = 0.6;  // of VMEM, for one operand that stays

}  // namespace

double Roofline::Time(const ValidatedRow& row) const {
  return t0_us + std::max(row.flops / flops_per_us, row.bytes / bytes_per_us);
}

Roofline FitRoofline(const std::vector<const ValidatedRow*>& rows) {
  if (rows.empty()) return {0, 1, 1};
  Constants best = {1e30, 0, 0};
  for (const ValidatedRow* row : rows) {
    best[0] = std::min(best[0], *row->row.time_us);
    best[1] = std::max(best[1], row->flops / *row->row.time_us);
    best[2] = std::max(best[2], row->bytes / *row->row.time_us);
  }
  best[1] = std::max(best[1], 1.0);
  best[2] = std::max(best[2], 1.0);
  double error = MeanError(rows, FromConstants(best));
  for (double step = 2; step > 1.002;) {
    bool better = false;
    for (int which = 0; which < 3; ++which) {
      for (const double factor : {step, 1 / step}) {
        Constants c = best;
        c[which] *= factor;
        const double e = MeanError(rows, FromConstants(c));
        if (e >= error) continue;
        error = e;
        best = c;
        better = true;
      }
    }
    if (!better) step = std::sqrt(step);
  }
  return FromConstants(best);
}

std::optional<double> Napkin(const ValidatedRow& row) {
  if (!row.product || row.peak_flops <= 0) return std::nullopt;
  const ProductShape& p = *row.product;
  // Passes of weight tiles over rows, two 128-wide blocks at once where the
  // array is 256 wide and both fit.
  const double size = row.array_size;
  const bool small = size > 128 && p.k <= 128 && p.n <= 128;
  const double tiles = std::ceil(p.k / size) * std::ceil(p.n / size);
  const double flops =
      2 * size * size * tiles * (small ? std::ceil(p.m / 2) : p.m);
  const double mxu_us = flops / (row.peak_flops / 1e6 * kMxuShare);
  const double in = p.lhs_bytes + p.rhs_bytes;
  const double one = kVmemBytes * kAloneShare;
  if (in + p.out_bytes <= kVmemBytes) {
    return kStartUs + in / kBytesPerUs + mxu_us;
  }
  const double first = p.rhs_bytes <= one   ? p.rhs_bytes
                       : p.lhs_bytes <= one ? p.lhs_bytes
                                            : 0;
  return kStartUs + first / kBytesPerUs +
         std::max(mxu_us, (in - first + p.out_bytes) / kBytesPerUs);
}

}  // namespace ptxla::driver
