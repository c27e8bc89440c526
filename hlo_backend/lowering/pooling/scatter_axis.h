// The geometry of a select-and-scatter along one axis: which windows a block of
// the result needs, and which code is the same for which of them.
//
//   ScatterAxis s = ScatterAxis::Of(axis, 2);   // two grid steps
//   for (const WindowRun& run : s.WindowRuns(axis)) ...
//
// Planes of slots are counted from their span's origin on.
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_SCATTER_AXIS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_SCATTER_AXIS_H_

#include <cstdint>
#include <optional>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_form.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_block.h"

namespace ptxla::lowering {

// Windows with the same taps inside of the operand.
struct WindowRun {
  PlaneRun windows;
  int64_t first_tap = 0, taps = 0;
};

// Every stride-th plane from `phase` on; plane k of them is met by windows
// k + first, ..., the first of them with its tap `tap`, the next ones with
// `stride` taps less each.
struct ResultRun {
  PlaneRun planes;
  int64_t phase = 0, first = 0, windows = 0, tap = 0;
};

// Planes [begin, end) of a span.
struct PlaneRange {
  int64_t begin = 0, end = 0;

  bool operator==(const PlaneRange& o) const {
    return begin == o.begin && end == o.end;
  }
};

// Those of a span that exist in grid step `step`; in others it is beyond its
// array's borders.
PlaneRange ExistingIn(const PlaneSpan& span, int64_t step);

// Arrays that are read where they lie, in VMEM: they have no borders. `before`:
// the operand has some, but code meets those behind its last plane alone.
struct ArraysInPlace {
  bool operand = false, source = false;
  bool before = false;
  bool any() const { return operand || source; }
};

struct ScatterAxis {
  int64_t planes = 1;  // of the operand, and so of the result, in a block
  PlaneSpan seen;      // planes of the operand that the windows see
  PlaneSpan windows;   // that reach the block's planes
  // Window o sees planes o * stride + shift, ... of the operand's slot.
  int64_t shift = 0;
  // What code meets of both: all of a slot, whose borders are filled.
  PlaneRange seen_met, windows_met;

  // `grid`: blocks along the axis. One block has no borders beyond the arrays.
  static ScatterAxis Of(const WindowAxis& axis, int64_t grid);

  // The same as code of grid step `step` alone meets it.
  ScatterAxis MetIn(int64_t step, const ArraysInPlace& in_place) const;

  // All windows of a block, in order.
  std::vector<WindowRun> WindowRuns(const WindowAxis& axis) const;
  // All planes of a block, by phase.
  std::vector<ResultRun> ResultRuns(const WindowAxis& axis) const;
};

// The one axis whose first and last steps meet less than others do, where
// arrays lie in place; -1: none does. Nothing: other steps would have to, too.
std::optional<int> EdgeAxis(const std::vector<ScatterAxis>& axes,
                            const std::vector<int64_t>& grid,
                            const ArraysInPlace& in_place);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_SCATTER_AXIS_H_
