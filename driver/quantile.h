// The value that a share of a list does not exceed.
//
//   Quantile(errors, 0.9)   // of {1, 2, ..., 10}: 9
#ifndef PTXLA_DRIVER_QUANTILE_H_
#define PTXLA_DRIVER_QUANTILE_H_

#include <algorithm>
#include <cmath>
#include <vector>

namespace ptxla::driver {

// `sorted` ascending; the nearest rank. 0 of an empty list.
inline double Quantile(const std::vector<double>& sorted, double q) {
  if (sorted.empty()) return 0;
  const double rank = std::ceil(q * static_cast<double>(sorted.size()));
  return sorted[static_cast<size_t>(std::max(1.0, rank)) - 1];
}

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_QUANTILE_H_
