// The two walks of a select-and-scatter: the number of the tap that each window
// selects goes to scratch, and each plane of the result sums the sources of the
// windows whose tap there it is.
//
//   SelectedTaps taps(form, values, axes, pitches, &b);
//   taps.Take(body);   // for runs of windows
//   taps.Sum(body);    // for runs of planes of the result
#ifndef PTXLA_HLO_BACKEND_LOWERING_POOLING_SELECTED_TAPS_H_
#define PTXLA_HLO_BACKEND_LOWERING_POOLING_SELECTED_TAPS_H_

#include <array>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/pooling/plane_walk.h"
#include "hlo_backend/lowering/pooling/pool_form.h"
#include "hlo_backend/lowering/pooling/pool_values.h"
#include "hlo_backend/lowering/pooling/scatter_axis.h"

namespace ptxla::lowering {

class SelectedTaps {
 public:
  // Codegen spaces, and numbers of windows; taps that were taken are in
  // scratch.
  enum Window : int { kOperand, kSource, kOut, kTaken };
  // Bytes between planes along each axis, of each of them.
  using Pitches = std::array<std::vector<int64_t>, 4>;

  // All must outlive it.
  SelectedTaps(const PoolForm& form, const PoolValues& values,
               const std::vector<ScatterAxis>& axes, const Pitches& pitches,
               codegen::CodeBuilder* b);

  // Runs of an axis that have code of their own.
  const std::vector<WindowRun>& windows(size_t axis) const {
    return window_runs_[axis];
  }
  const std::vector<ResultRun>& results(size_t axis) const {
    return result_runs_[axis];
  }

  // The number of the tap that each window selects.
  void Take(const PlaneBody& body);
  // Sources of the windows that selected a plane.
  void Sum(const PlaneBody& body);

 private:
  int64_t TapNumber(const std::vector<int64_t>& taps) const;
  // Of a piece of a window's taps, in scratch.
  int64_t TakenAt(const PlanePiece& piece, int part) const;

  const PoolForm& form_;
  const PoolValues& values_;
  const std::vector<ScatterAxis>& axes_;
  const Pitches& pitches_;
  codegen::CodeBuilder& b_;
  std::vector<std::vector<WindowRun>> window_runs_;
  std::vector<std::vector<ResultRun>> result_runs_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_POOLING_SELECTED_TAPS_H_
