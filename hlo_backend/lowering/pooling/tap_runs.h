// Which results of a sliding window along one axis have the same code: those
// that meet the same taps, at the same distances.
//
//   // Three taps over five planes padded by one, stride 1:
//   TapRunsOf(axis, cut)
//   ==> result 0 meets taps 1, 2; results 1 to 3 meet 0, 1, 2; result 4 0, 1
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_RUNS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_RUNS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"

namespace ptxla::lowering {

struct TapRun {
  PlaneRun results;           // every PeriodOf-th one
  int64_t first_plane = 0;    // of the slot, that the first result meets first
  std::vector<int64_t> taps;  // planes beyond that one
  std::vector<int64_t> numbers;
};

// Of a window, on average at least.
int64_t TapsMet(const WindowAxis& axis);

// Results whose windows meet the same taps: every so many, as a dilated array
// has gaps; and the planes between the windows of two of them.
int64_t PeriodOf(const WindowAxis& axis);
int64_t AdvanceOf(const WindowAxis& axis);

// The runs of a block's results along the axis.
std::vector<TapRun> TapRunsOf(const WindowAxis& axis, const AxisBlock& cut);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_TAP_RUNS_H_
