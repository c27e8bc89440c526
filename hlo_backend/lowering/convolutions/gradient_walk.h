// The streams of a gradient's grid steps: which of them start its sums and
// which finish them, along the taps and along the second axis.
//
//   GradientWalk walk;
//   walk.taps = {grid.k, tile.grid_k};
//   walk.stream = [&](bool starts, bool finishes) { … };
//   RETURN_IF_ERROR(walk.Emit(b));
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_WALK_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_WALK_H_

#include <cstdint>
#include <functional>

#include "absl/status/status.h"
#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

struct GradientWalk {
  // A dimension of the grid all of whose steps add to the same sums.
  struct Axis {
    int dim = 0;
    int64_t steps = 1;
  };
  Axis taps, second;
  // The dimension, one of them, whose steps two cores share: each has sums of
  // its own. -1: none.
  int shared_dim = -1;
  // Code of a step.
  std::function<absl::Status(bool starts, bool finishes)> stream;
  // In a core's last step, behind its stream: the sums of both cores.
  std::function<absl::Status()> finish_shared;

  absl::Status Emit(codegen::CodeBuilder& b) const;

 private:
  absl::Status Shared(codegen::CodeBuilder& b) const;
  absl::Status AlongTaps(codegen::CodeBuilder& b, bool starts,
                         bool finishes) const;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_GRADIENT_WALK_H_
