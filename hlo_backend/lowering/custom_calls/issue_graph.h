// Instructions on registers, what they wait for, and when each of them issues:
// cycle by cycle, of those that are ready the one that most depends on first,
// as many as slots and units take. So does the TPU compiler, whose schedules
// are breadth-first for it: all rows' maxima before the first exponential.
//
//   IssueGraph graph(model);
//   const int load = graph.Add(load_work, {});
//   graph.Add(store_work, {load});
//   graph.Schedule()     // cycles until the last result is there
//
// Operands come before those who read them.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ISSUE_GRAPH_H_
#define PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ISSUE_GRAPH_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/types/span.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

// An XLU takes its time to change between reductions along the lanes and
// permutations of them.
enum class XluMode { kAny, kReduce, kPermute };

// What one node asks for. Without slots and unit: nothing but time.
struct Work {
  std::array<uint8_t, isa::kNumSlots> slots{};  // instructions
  int latency = 0;                              // cycles to its result
  int unit = -1;     // one of the group of units that it occupies
  int interval = 1;  // cycles that it occupies it
  XluMode mode = XluMode::kAny;
};

class IssueGraph {
 public:
  explicit IssueGraph(const isa::MachineModel& model);

  // Groups of units: all XLUs, the rows and the weights of one MXU.
  int XluUnits() const { return 0; }
  int RowsOf(int mxu) const { return 1 + 2 * mxu; }
  int WeightsOf(int mxu) const { return 2 + 2 * mxu; }

  // Cycles from the last work of one mode to the first of the other on a unit.
  void SetSwitches(int reduce_to_permute, int permute_to_reduce) {
    to_permute_ = reduce_to_permute;
    to_reduce_ = permute_to_reduce;
  }

  // Kinds of work are few; nodes name them. -1 among operands: there at once.
  int Kind(const Work& work);
  int Add(int kind, absl::Span<const int> operands);
  int Join(absl::Span<const int> operands) { return Add(join_, operands); }
  int64_t Schedule() const;

  // Of all nodes.
  std::array<int64_t, isa::kNumSlots> Instructions() const;

 private:
  friend class IssueLoop;
  struct Node {
    int kind = 0;
    size_t first = 0;  // of its operands
    size_t count = 0;
  };

  const isa::MachineModel* model_;
  std::vector<int> unit_counts_;
  std::vector<Work> kinds_;
  std::vector<Node> nodes_;
  std::vector<int> operands_;
  int join_ = 0;
  int to_permute_ = 0, to_reduce_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CUSTOM_CALLS_ISSUE_GRAPH_H_
