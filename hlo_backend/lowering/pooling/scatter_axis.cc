#include "hlo_backend/lowering/pooling/scatter_axis.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {
PlaneRange ExistingIn(const PlaneSpan& span, int64_t step) {
  const int64_t at = span.origin + step * span.advance;
  return {std::clamp<int64_t>(-at, 0, span.planes),
          std::clamp<int64_t>(span.extent - at, 0, span.planes)};
}

ScatterAxis ScatterAxis::Of(const WindowAxis& w, int64_t grid) {
  ScatterAxis s;
  s.seen = {w.in, w.in_pitch, 0, w.in, w.in};
  s.windows = {w.out, w.tap_pitch, 0, w.out, w.out};
  s.planes = w.in;
  s.shift = -w.padding;
  s.seen_met = {0, s.seen.planes};
  s.windows_met = {0, s.windows.planes};
  if (grid == 1) return s;
  s.planes = RoundUpTo(CeilOfRatio(w.in, grid), w.stride);
  s.windows.origin = -FloorOfRatio(w.taps - 1 - w.padding, w.stride);
  s.windows.planes =
      FloorOfRatio(s.planes - 1 + w.padding, w.stride) - s.windows.origin + 1;
  s.windows.advance = s.planes / w.stride;
  s.seen.origin = s.windows.origin * w.stride - w.padding;
  s.seen.planes = (s.windows.planes - 1) * w.stride + w.taps;
  s.seen.advance = s.planes;
  s.shift = 0;
  s.seen_met = {0, s.seen.planes};
  s.windows_met = {0, s.windows.planes};
  return s;
}

ScatterAxis ScatterAxis::MetIn(int64_t step,
                               const ArraysInPlace& in_place) const {
  ScatterAxis s = *this;
  if (in_place.operand) {
    s.seen_met = ExistingIn(seen, step);
  } else if (in_place.before) {
    s.seen_met.begin = ExistingIn(seen, step).begin;
  }
  if (in_place.source) s.windows_met = ExistingIn(windows, step);
  return s;
}

std::vector<WindowRun> ScatterAxis::WindowRuns(const WindowAxis& w) const {
  std::vector<WindowRun> runs;
  for (int64_t o = 0; o < windows.planes; ++o) {
    const int64_t from = o * w.stride + shift;
    WindowRun run;
    run.windows.first = o;
    run.first_tap = std::clamp<int64_t>(seen_met.begin - from, 0, w.taps);
    run.taps = std::max<int64_t>(
        0, std::min(w.taps, seen_met.end - from) - run.first_tap);
    if (!runs.empty() && runs.back().first_tap == run.first_tap &&
        runs.back().taps == run.taps) {
      ++runs.back().windows.count;
    } else {
      runs.push_back(run);
    }
  }
  return runs;
}

std::vector<ResultRun> ScatterAxis::ResultRuns(const WindowAxis& w) const {
  std::vector<ResultRun> runs;
  for (int64_t phase = 0; phase < std::min(w.stride, planes); ++phase) {
    bool first = true;
    for (int64_t k = 0; phase + k * w.stride < planes; ++k) {
      // Windows o of the block begin at o * stride of these positions.
      const int64_t at = phase + k * w.stride - seen.origin - shift;
      const int64_t low =
          std::max(windows_met.begin, -FloorOfRatio(w.taps - 1 - at, w.stride));
      const int64_t high =
          std::min(windows_met.end - 1, FloorOfRatio(at, w.stride));
      ResultRun run;
      run.phase = phase;
      run.planes.first = k;
      run.first = low - k;
      run.windows = std::max<int64_t>(0, high - low + 1);
      run.tap = at - low * w.stride;
      if (!first && runs.back().first == run.first &&
          runs.back().windows == run.windows && runs.back().tap == run.tap) {
        ++runs.back().planes.count;
      } else {
        runs.push_back(run);
      }
      first = false;
    }
  }
  return runs;
}

std::optional<int> EdgeAxis(const std::vector<ScatterAxis>& axes,
                            const std::vector<int64_t>& grid,
                            const ArraysInPlace& in_place) {
  int edge = -1;
  for (size_t a = 0; a < axes.size(); ++a) {
    for (int64_t i = 0; i < grid[a]; ++i) {
      const ScatterAxis in_step = axes[a].MetIn(i, in_place);
      if (in_step.seen_met == axes[a].seen_met &&
          in_step.windows_met == axes[a].windows_met) {
        continue;
      }
      const bool inner = i > 0 && i + 1 < grid[a];
      if (inner || (edge >= 0 && edge != static_cast<int>(a))) return {};
      edge = static_cast<int>(a);
    }
  }
  return edge;
}

}  // namespace ptxla::lowering
