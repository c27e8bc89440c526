// The metrics of a report, each one formula.
//
//   Mfu(Flops(8.37e12), FromSeconds(0.1241), FlopsPerSecond(197e12))  // 0.342
#ifndef PTXLA_REPORTS_FORMULAS_H_
#define PTXLA_REPORTS_FORMULAS_H_

#include <cstdint>

#include "base/units.h"

namespace ptxla::reports {

// Model FLOP utilisation: what the model needs (forward, backward and
// optimiser without recomputation; design §7.5) over what the chip could do in
// the step. Per chip.
inline double Mfu(Flops model_flops, Picoseconds step, FlopsPerSecond peak) {
  return static_cast<double>(model_flops.count()) /
         (peak.count() * ToSeconds(step));
}

// Hardware FLOP utilisation: the time that the executed matmuls and
// convolutions, recomputation included, would take at the MXUs' peak for their
// types (int8 of a quantised layer at int8's), over the step. It may lie below
// Mfu, whose FLOPs are the model's formula: taps of a convolution that meet
// only padding are not executed, and a product of one row is vector work.
inline double Hfu(Picoseconds at_peak, Picoseconds step) {
  return ToSeconds(at_peak) / ToSeconds(step);
}

// Samples (or tokens, images) per second of the whole slice.
inline double Throughput(int64_t per_step, Picoseconds step) {
  return static_cast<double>(per_step) / ToSeconds(step);
}

inline constexpr double kSecondsPerHour = 3600.0;

// Dollars that `chips` cost for `time`.
inline double RentUsd(int64_t chips, double usd_per_chip_hour,
                      Picoseconds time) {
  return static_cast<double>(chips) * usd_per_chip_hour * ToSeconds(time) /
         kSecondsPerHour;
}

// Dollars per million samples in steady state.
inline double UsdPerMillionSamples(int64_t chips, double usd_per_chip_hour,
                                   double samples_per_second) {
  return static_cast<double>(chips) * usd_per_chip_hour * 1e6 /
         (samples_per_second * kSecondsPerHour);
}

}  // namespace ptxla::reports

#endif  // PTXLA_REPORTS_FORMULAS_H_
