// How long one grid step of a Mosaic kernel computes: its straight pieces one
// after the other (block_schedule.h), conditions and loops as the grid index
// and the scalar memory decide them, the kernel's own copies as they are
// started and waited for (own_copies.h).
//
//   StepWalker walker(kernel, model);
//   ASSIGN_OR_RETURN(StepTime t, walker.At({0, 3, 1}));
//   t.bundles        // 1,391
//
// A condition or a trip count that depends on data is taken as the longer way:
// the branch is run, the loop once, and `assumed` says so. What a step stores
// in scalar memory, and copies that it has started, are there in the next one:
// steps are asked for in the order in which they run.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"
#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"
#include "hlo_backend/lowering/custom_calls/own_copies.h"
#include "hlo_backend/mosaic/index_math.h"
#include "hlo_backend/mosaic/pallas_kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct StepTime {
  int64_t bundles = 0;
  int64_t waits = 0;         // cycles, for the kernel's own copies
  int64_t copied_bytes = 0;  // by those, of HBM
  bool assumed = false;
};

class StepWalker {
 public:
  // Null `memory`: nothing is known of what is in scalar memory before the
  // first step. Null `copies`: they take no time.
  StepWalker(const mosaic::PallasKernel& kernel, const isa::MachineModel& model,
             mosaic::ScalarMemory* memory = nullptr,
             OwnCopies* copies = nullptr);

  void SetRules(const BlockRules& rules) { rules_ = rules; }

  // Unimplemented: loops that run too often to be walked, all steps together.
  absl::StatusOr<StepTime> At(const std::vector<int64_t>& index);
  // Bundles of the code, each branch and each loop's body once: what a
  // compiler's listing shows.
  absl::StatusOr<int64_t> CodeBundles();
  // Cycles that pass between two steps.
  void Pass(int64_t cycles) { now_ += cycles; }
  int64_t now() const { return now_; }

  // Operations that no rule knows.
  const std::set<std::string>& unknown() const { return unknown_; }

 private:
  struct Walk {
    mosaic::IndexMath math;
    bool listing = false;  // everything once
    StepTime time;
  };
  // A part of a memref: of which array, its first element, as far as indices
  // are known, and how much of each of the array's dimensions. `axes` are those
  // that the view has left, in order.
  struct Part {
    int array = -1;
    int64_t first = 0;
    std::vector<int64_t> dims;
    std::vector<size_t> axes;
  };
  // What a block, a branch or a loop hands on.
  using Values = std::vector<std::optional<int64_t>>;

  absl::Status Run(const mosaic::Block& block, Walk* walk);
  absl::Status RunRegions(const mosaic::Operation& op, Walk* walk);
  absl::Status If(const mosaic::Operation& op, Walk* walk);
  absl::Status For(const mosaic::Operation& op, Walk* walk);
  absl::Status While(const mosaic::Operation& op, Walk* walk);
  absl::Status CountTrip();
  // Of a piece between two branches; the same piece is scheduled once.
  int64_t Piece(const mosaic::Operation* first, size_t count);
  void TakeTime(int64_t bundles, Walk* walk);
  // Work of the scalar unit, which straight code behind it hides; what is left
  // at the next branch takes time.
  void TakeScalarTime(Walk* walk);
  void Branch(Walk* walk);

  Part PartOf(int value) const;
  OwnCopy CopyOf(int source, int target) const;
  int LinkOf(int device, const Walk& walk);
  void Slice(const mosaic::Operation& op, const Walk& walk);
  void StartCopy(const mosaic::Operation& op, Walk* walk);
  void AwaitCopy(const mosaic::Operation& op, Walk* walk);

  const mosaic::PallasKernel& kernel_;
  const isa::MachineModel& model_;
  mosaic::ScalarMemory own_memory_;
  mosaic::ScalarMemory* memory_;
  OwnCopies* copies_;
  int64_t trips_ = 0;   // of all loops, of all steps
  int64_t now_ = 0;     // cycles since the first step began
  int64_t scalar_ = 0;  // bundles of scalar work that nothing has hidden yet
  ElementwiseCosts costs_;
  BlockRules rules_;
  std::map<std::pair<const mosaic::Operation*, size_t>, int64_t> pieces_;
  absl::flat_hash_map<int, Part> parts_;
  std::map<std::pair<bool, int64_t>, int> links_;  // of devices
  std::set<std::string> unknown_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_STEP_WALKER_H_
