#include "hlo_backend/lowering/pooling/tap_runs.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

TapRun TapsOf(const WindowAxis& axis, const AxisBlock& cut, int64_t result) {
  TapRun run;
  run.results.first = result;
  for (int64_t t = 0; t < axis.taps; ++t) {
    const int64_t plane = cut.PlaneOf(axis, result, t);
    if (plane < 0) continue;
    if (run.taps.empty()) run.first_plane = plane;
    run.taps.push_back(plane - run.first_plane);
    run.numbers.push_back(t);
  }
  return run;
}

// `next` is the result behind those of `run`, with code as theirs.
bool Continues(const TapRun& run, const TapRun& next, const WindowAxis& axis) {
  return run.taps == next.taps && run.numbers == next.numbers &&
         (next.taps.empty() ||
          next.first_plane ==
              run.first_plane + run.results.count * AdvanceOf(axis));
}

}  // namespace

int64_t TapsMet(const WindowAxis& axis) {
  return CeilOfRatio<int64_t>(axis.taps, axis.base_dilation);
}

int64_t PeriodOf(const WindowAxis& axis) {
  return axis.base_dilation / std::gcd(axis.stride, axis.base_dilation);
}

int64_t AdvanceOf(const WindowAxis& axis) {
  return PeriodOf(axis) * axis.stride / axis.base_dilation;
}

std::vector<TapRun> TapRunsOf(const WindowAxis& axis, const AxisBlock& cut) {
  const int64_t period = PeriodOf(axis);
  std::vector<TapRun> runs;
  for (int64_t first = 0; first < std::min(period, cut.outputs); ++first) {
    const size_t begin = runs.size();
    for (int64_t o = first; o < cut.outputs; o += period) {
      TapRun run = TapsOf(axis, cut, o);
      if (runs.size() > begin && Continues(runs.back(), run, axis)) {
        ++runs.back().results.count;
      } else {
        runs.push_back(std::move(run));
      }
    }
  }
  return runs;
}

}  // namespace ptxla::lowering
