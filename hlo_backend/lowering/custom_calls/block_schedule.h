// How many bundles a straight piece of a Mosaic kernel takes. Operations work
// on whole vectors of many registers; each becomes the instructions that the
// TPU compiler makes of it, one or more for each register, and these are
// scheduled by what they wait for (issue_graph.h).
//
//   BlockSchedule schedule(kernel.module, model, &costs);
//   for (const Operation& op : block.operations) schedule.Add(op);
//   schedule.Finish()      // cycles; begins a new piece
//
// Values of earlier pieces are there at once. Cycles are those of the TPU
// compiler's bundles before it takes out the empty ones that a unit's FIFO
// waits for by itself: a product's first result is its latency behind its rows.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_map.h"
#include "absl/functional/function_ref.h"
#include "chips/chip_spec.h"
#include "hlo_backend/lowering/custom_calls/elementwise_cost.h"
#include "hlo_backend/lowering/custom_calls/issue_graph.h"
#include "hlo_backend/mosaic/kernel_ir.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

// Registers of 8 x 128 words (packed: 16 or 32 rows) that a vector takes.
int64_t RegistersOf(const mosaic::Type& type);

// What the model of the machine does not say.
struct BlockRules {
  // Depths of a product are summed where they are computed.
  bool sums_in_arrays = false;
  // Cycles that an XLU takes to change its mode; 0: none known.
  int reduce_to_permute = 0, permute_to_reduce = 0;
};
BlockRules BlockRulesOf(const chips::ChipSpec& chip);

class BlockSchedule {
 public:
  BlockSchedule(const mosaic::Module& module, const isa::MachineModel& model,
                ElementwiseCosts* costs, const BlockRules& rules = {})
      : module_(module),
        model_(model),
        costs_(costs),
        rules_(rules),
        live_(mosaic::LiveValues(module)),
        graph_(model) {}

  // An operation without regions, which outlives Finish. Those on scalars take
  // no bundle of their own: the scalar unit works beside the others.
  void Add(const mosaic::Operation& op) { operations_.push_back(&op); }
  int64_t Finish();

  // Operations of finished pieces that no rule knows, counted as one vector
  // instruction per register of their result.
  const std::vector<std::string>& unknown() const { return unknown_; }
  // Of the last piece.
  const std::array<int64_t, isa::kNumSlots>& instructions() const {
    return instructions_;
  }

 private:
  // Nodes that make a value's registers, row by row. Those that do not differ
  // along the rows or the columns (of a broadcast, an iota, a row's maximum)
  // are there once. -1: from the beginning.
  struct Registers {
    int64_t rows = 1, columns = 1;
    std::vector<int> nodes = {-1};
    // A single column that lies in every lane, as a reduction leaves it.
    bool in_all_lanes = false;

    int64_t size() const { return rows * columns; }
    // Of a larger or smaller grid of registers: what lies at the same place.
    int At(int64_t row, int64_t column, int64_t of_rows,
           int64_t of_columns) const {
      return nodes[row * rows / of_rows * columns +
                   column * columns / of_columns];
    }
  };
  // Rows of a product that one array takes with the same weights.
  struct Array {
    int last_rows = -1;  // node: all rows of the job before
    int first_row = -1;  // node: its first
  };
  struct ProductPlan;

  ProductPlan PlanOf(const mosaic::Operation& op) const;
  void ChooseArrays();
  bool IsAddedToASum(int value) const;
  void Expand(const mosaic::Operation& op);
  void Elementwise(const mosaic::Operation& op);
  int ElementwiseKind(const std::string& name, bool is_float);
  void DivideByRows(const mosaic::Operation& op, Registers out);
  void Reduction(const mosaic::Operation& op);
  void Product(const mosaic::Operation& op);
  Registers Converted(int value, int64_t operations);
  void Broadcast(const mosaic::Operation& op);
  void Iota(const mosaic::Operation& op);
  void Transpose(const mosaic::Operation& op);
  void Rotate(const mosaic::Operation& op);
  void Load(const mosaic::Operation& op);
  void Store(const mosaic::Operation& op);

  // One instruction of a slot.
  int Kind(isa::Slot slot, int latency, int count = 1);
  int XluKind(int latency, isa::IntervalKey interval,
              XluMode mode = XluMode::kAny);
  // A sum or maximum of nodes: a tree of instructions.
  int Combine(std::vector<int> nodes, int kind);
  // Whether products and conversions to 16 bits alone read a value.
  bool OnlyReadNarrow(int value) const;
  bool OnlyExponentialsRead(int value) const;
  bool OnlyReadBy(
      int value,
      absl::FunctionRef<bool(const mosaic::Operation&)> is_one) const;
  // A constant 1 of this piece, or its broadcast.
  bool IsOne(int value) const;
  const Registers& Of(int value);
  Registers Full(const mosaic::Type& type) const;
  const mosaic::Type& TypeOf(int value) const { return *module_.values[value]; }

  const mosaic::Module& module_;
  const isa::MachineModel& model_;
  ElementwiseCosts* costs_;
  const BlockRules rules_;
  const std::vector<bool> live_;
  std::vector<const mosaic::Operation*> operations_;

  IssueGraph graph_;
  absl::node_hash_map<int, Registers> values_;  // at fixed places
  absl::flat_hash_map<int, Registers> spread_;  // columns, in all lanes
  absl::flat_hash_map<int, Registers> reciprocals_;
  absl::flat_hash_map<int, Registers> stored_;  // last into a memref
  absl::flat_hash_map<int, int> stores_;        // all of them
  std::vector<Array> arrays_;
  int64_t tiles_ = 0;  // of weights, of all products
  // Of each product, by its result: each job's array.
  absl::flat_hash_map<int, std::vector<size_t>> array_of_;
  std::vector<std::string> unknown_;
  std::array<int64_t, isa::kNumSlots> instructions_{};
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_BLOCK_SCHEDULE_H_
