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

struct ScatterAxis {
  int64_t planes = 1;  // of the operand, and so of the result, in a block
  PlaneSpan seen;      // planes of the operand that the windows see
  PlaneSpan windows;   // that reach the block's planes
  // Window o sees planes o * stride + shift, ... of the operand's slot.
  int64_t shift = 0;

  // `grid`: blocks along the axis. One block has no borders beyond the arrays.
  static ScatterAxis Of(const WindowAxis& axis, int64_t grid);

  // All windows of a block, in order.
  std::vector<WindowRun> WindowRuns(const WindowAxis& axis) const;
  // All planes of a block, by phase.
  std::vector<ResultRun> ResultRuns(const WindowAxis& axis) const;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_SCATTER_AXIS_H_
