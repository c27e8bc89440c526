// How many bundles a straight piece of a Mosaic kernel takes. Operations work
// on whole vectors of many registers; each is given its instructions per unit
// and starts when its operands come and its units are free. What it makes comes
// register by register, so operations overlap as the TPU compiler's scheduler
// overlaps them, with two exceptions: a product needs all of its weights, and
// its result is complete along the rows only when it has passed over them for
// the last time.
//
//   BlockSchedule schedule(kernel.module, model, &costs);
//   for (const Operation& op : block.operations) schedule.Add(op);
//   schedule.Finish()      // cycles; begins a new piece
//
// Values of earlier pieces are there at once. Vectors that are read behind a
// reduction of themselves, and that do not fit half of the registers, are
// stored and loaded in between.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"
#include "hlo_backend/mosaic/kernel_ir.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

// Registers of 8 x 128 words (packed: 16 or 32 rows) that a vector takes.
int64_t RegistersOf(const mosaic::Type& type);

class BlockSchedule {
 public:
  BlockSchedule(const mosaic::Module& module, const isa::MachineModel& model,
                ElementwiseCosts* costs)
      : module_(module),
        model_(model),
        costs_(costs),
        live_(mosaic::LiveValues(module)) {}

  // An operation without regions. Those on scalars take no bundle of their own:
  // the scalar unit works beside the others.
  void Add(const mosaic::Operation& op);
  int64_t Finish();

  // Operations that no rule knows, counted as one vector instruction per
  // register of their result.
  const std::vector<std::string>& unknown() const { return unknown_; }

 private:
  enum class Kind : uint8_t { kStream, kRows, kProduct };
  // Along which of the last two dimensions a vector's registers differ: those
  // of a broadcast or an iota are made once.
  struct Variation {
    bool rows = true, columns = true;
    // A single column that lies in every lane, as a reduction leaves it.
    bool in_all_lanes = false;
  };
  struct Task {
    Kind kind = Kind::kStream;
    std::array<int64_t, isa::kNumSlots> busy{};  // cycles per slot
    int latency = 0;
    int64_t passes = 1;         // kProduct: over the rows
    std::vector<int> operands;  // tasks
    int weights = -1;           // kProduct: task of the right side
    // When the first registers, the first whole row, and all are there.
    int64_t begin = 0, row = 0, end = 0;
    int64_t height = 0;  // cycles from its start to the end of what needs it
    bool placed = false;
  };

  int64_t Instructions(isa::Slot slot, int64_t n) const;
  void AddElementwise(const mosaic::Operation& op, Task* task);
  void AddReduction(const mosaic::Operation& op, Task* task);
  void AddProduct(const mosaic::Operation& op, Task* task);
  void AddBroadcast(const mosaic::Operation& op, Task* task);
  void AddMovement(const mosaic::Operation& op, Task* task);
  void AddSpills();
  void SetHeights();
  Variation VariationOf(const mosaic::Operation& op) const;
  int64_t DistinctRegisters(int value) const;
  void Place(Task* task);
  int64_t EarliestStart(const Task& task) const;
  bool Ready(const Task& task) const;
  const mosaic::Type& TypeOf(int value) const { return *module_.values[value]; }

  const mosaic::Module& module_;
  const isa::MachineModel& model_;
  ElementwiseCosts* costs_;
  const std::vector<bool> live_;
  std::vector<Task> tasks_;
  absl::flat_hash_map<int, int> makers_;  // value -> task
  absl::flat_hash_map<int, Variation> variations_;
  absl::flat_hash_map<int, int> spread_;  // a column -> task of its broadcast
  absl::flat_hash_map<int, int> last_store_;          // memref -> task
  absl::flat_hash_map<int, int> reads_, reductions_;  // of a vector
  std::array<int64_t, isa::kNumSlots> free_{};
  std::vector<std::string> unknown_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_
