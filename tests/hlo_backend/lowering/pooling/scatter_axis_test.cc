// Does each plane of a select-and-scatter's result meet exactly the windows
// that cover it, whole and cut into blocks?
#include "hlo_backend/lowering/pooling/scatter_axis.h"

#include <set>
#include <utility>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"

namespace ptxla::lowering {
namespace {

WindowAxis Axis(int64_t in, int64_t taps, int64_t stride, int64_t padding) {
  WindowAxis axis;
  axis.in = in;
  axis.taps = taps;
  axis.stride = stride;
  axis.padding = padding;
  axis.out = (in + 2 * padding - taps) / stride + 1;
  return axis;
}

// (window, tap)
using Meetings = std::set<std::pair<int64_t, int64_t>>;

Meetings Expected(const WindowAxis& axis, int64_t plane) {
  Meetings met;
  for (int64_t o = 0; o < axis.out; ++o) {
    for (int64_t t = 0; t < axis.taps; ++t) {
      if (axis.InputOf(o, t) == plane) met.emplace(o, t);
    }
  }
  return met;
}

class ScatterAxisTest : public testing::TestWithParam<WindowAxis> {};

TEST_P(ScatterAxisTest, PlanesMeetTheWindowsThatCoverThem) {
  const WindowAxis axis = GetParam();
  for (const int64_t grid : {1, 2, 3}) {
    const ScatterAxis s = ScatterAxis::Of(axis, grid);
    for (int64_t block = 0; block < grid; ++block) {
      const int64_t first_window = s.windows.origin + block * s.windows.advance;
      std::set<int64_t> seen;
      for (const ResultRun& run : s.ResultRuns(axis)) {
        for (int64_t k = run.planes.first;
             k < run.planes.first + run.planes.count; ++k) {
          const int64_t in_block = run.phase + k * axis.stride;
          const int64_t plane = block * s.planes + in_block;
          EXPECT_TRUE(seen.insert(in_block).second) << plane << " twice";
          Meetings met;
          for (int64_t w = 0; w < run.windows; ++w) {
            const int64_t window = first_window + run.first + k + w;
            // Borders hold nothing.
            if (window < 0 || window >= axis.out || plane >= axis.in) continue;
            met.emplace(window, run.tap - w * axis.stride);
          }
          if (plane >= axis.in) continue;
          EXPECT_EQ(met, Expected(axis, plane))
              << "plane " << plane << " of " << grid << " blocks";
        }
      }
      EXPECT_EQ(seen.size(), static_cast<size_t>(s.planes));
    }
  }
}

// Of arrays without borders: code of each step meets what exists in it.
TEST_P(ScatterAxisTest, StepsMeetNothingBeyondTheArrays) {
  const WindowAxis axis = GetParam();
  for (const int64_t grid : {2, 3}) {
    for (int64_t block = 0; block < grid; ++block) {
      const ScatterAxis s =
          ScatterAxis::Of(axis, grid).MetIn(block, {true, true});
      const int64_t first_window = s.windows.origin + block * s.windows.advance;
      const int64_t first_plane = s.seen.origin + block * s.seen.advance;
      for (const WindowRun& run : s.WindowRuns(axis)) {
        for (int64_t k = 0; k < run.windows.count * run.taps; ++k) {
          const int64_t o = run.windows.first + k / run.taps;
          const int64_t plane =
              first_plane + o * axis.stride + run.first_tap + k % run.taps;
          EXPECT_TRUE(plane >= 0 && plane < axis.in) << plane;
        }
      }
      for (const ResultRun& run : s.ResultRuns(axis)) {
        for (int64_t k = 0; k < run.planes.count * run.windows; ++k) {
          const int64_t window = first_window + run.first + run.planes.first +
                                 k / run.windows + k % run.windows;
          EXPECT_TRUE(window >= 0 && window < axis.out) << window;
        }
      }
    }
  }
}

TEST_P(ScatterAxisTest, WindowsSeeTheTapsInsideOfTheOperand) {
  const WindowAxis axis = GetParam();
  const ScatterAxis s = ScatterAxis::Of(axis, 1);
  int64_t next = 0;
  for (const WindowRun& run : s.WindowRuns(axis)) {
    EXPECT_EQ(run.windows.first, next);
    next += run.windows.count;
    for (int64_t o = run.windows.first; o < next; ++o) {
      for (int64_t t = 0; t < axis.taps; ++t) {
        const bool listed = t >= run.first_tap && t < run.first_tap + run.taps;
        EXPECT_EQ(listed, axis.InputOf(o, t) >= 0)
            << "window " << o << " tap " << t;
      }
    }
  }
  EXPECT_EQ(next, axis.out);
}

INSTANTIATE_TEST_SUITE_P(Windows, ScatterAxisTest,
                         testing::Values(Axis(112, 3, 2, 1), Axis(7, 2, 2, 0),
                                         Axis(9, 3, 1, 1), Axis(13, 2, 3, 0),
                                         Axis(10, 5, 2, 2), Axis(6, 1, 1, 0)),
                         [](const testing::TestParamInfo<WindowAxis>& info) {
                           const WindowAxis& a = info.param;
                           return absl::StrCat("in", a.in, "_taps", a.taps,
                                               "_stride", a.stride, "_padding",
                                               a.padding);
                         });

}  // namespace
}  // namespace ptxla::lowering
