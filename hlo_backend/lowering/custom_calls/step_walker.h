// How long one grid step of a Mosaic kernel computes: its straight pieces one
// after the other (block_schedule.h), conditions and loops as the grid index
// decides them.
//
//   StepWalker walker(kernel, model);
//   ASSIGN_OR_RETURN(StepTime t, walker.At({0, 3, 1}));
//   t.bundles        // 1,391
//
// A condition or a trip count that depends on data is taken as the longer way:
// the branch is run, the loop once, and `assumed` says so.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_

#include <cstdint>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"
#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"
#include "hlo_backend/mosaic/index_math.h"
#include "hlo_backend/mosaic/pallas_kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct StepTime {
  int64_t bundles = 0;
  int64_t copied_bytes = 0;  // by the kernel's own DMAs
  bool assumed = false;
};

class StepWalker {
 public:
  StepWalker(const mosaic::PallasKernel& kernel,
             const isa::MachineModel& model);

  // Unimplemented: a loop that cannot be counted.
  absl::StatusOr<StepTime> At(const std::vector<int64_t>& index);
  // Bundles of the code, each branch and each loop's body once: what a
  // compiler's listing shows.
  absl::StatusOr<int64_t> CodeBundles();

  // Operations that no rule knows.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  struct Walk {
    mosaic::IndexMath math;
    bool listing = false;  // everything once
    StepTime time;
  };
  absl::Status Run(const mosaic::Block& block, Walk* walk);
  absl::Status RunRegions(const mosaic::Operation& op, Walk* walk);
  absl::Status Loop(const mosaic::Operation& op, Walk* walk);
  // Of a piece between two branches; the same piece is scheduled once.
  int64_t Piece(const mosaic::Operation* first, size_t count);

  const mosaic::PallasKernel& kernel_;
  const isa::MachineModel& model_;
  ElementwiseCosts costs_;
  std::map<std::pair<const mosaic::Operation*, size_t>, int64_t> pieces_;
  std::set<std::string> unknown_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_
