#include "hlo_backend/lowering/codegen/issue_order.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/units.h"

namespace ptxla::codegen {
namespace {

// The numbers of `keys` by ascending key, of equal keys in their order. Keys
// are cycles of one block, so counting them takes less than comparing.
std::vector<int> SortedByKey(absl::Span<const int64_t> keys) {
  const int n = static_cast<int>(keys.size());
  std::vector<int> sorted(n);
  if (n == 0) return sorted;
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  const int64_t first = *least, range = *most - *least + 1;
  if (range > 16 * int64_t{n} + 1024) {
    std::iota(sorted.begin(), sorted.end(), 0);
    std::stable_sort(sorted.begin(), sorted.end(),
                     [&](int a, int b) { return keys[a] < keys[b]; });
    return sorted;
  }
  std::vector<int> place(range + 1, 0);
  for (const int64_t key : keys) ++place[key - first + 1];
  for (int64_t k = 1; k <= range; ++k) place[k] += place[k - 1];
  for (int i = 0; i < n; ++i) sorted[place[keys[i] - first]++] = i;
  return sorted;
}

// The cycle at which an instruction is due, if what it leads to goes as soon as
// it can: values that are kept (accumulators), and those that nothing reads
// here. `turns`: before that none goes.
std::vector<int64_t> DueCycles(absl::Span<const VInstr> instrs,
                               absl::Span<const VRegister> registers,
                               const Graph& graph,
                               absl::Span<const int64_t> turns) {
  const int n = static_cast<int>(instrs.size());
  const std::vector<int> order = graph.InOrder(n);
  std::vector<int64_t> soonest(graph.nodes.size(), 0);
  std::copy(turns.begin(), turns.end(), soonest.begin());
  const auto follow = [&](int from, const auto& visit) {
    for (int e = graph.nodes[from].first_edge; e >= 0;
         e = graph.edges[e].next) {
      visit(graph.edges[e]);
    }
  };
  for (const int i : order) {
    follow(i, [&](const Edge& edge) {
      soonest[edge.to] = std::max(soonest[edge.to], soonest[i] + edge.cycles);
    });
  }
  std::vector<int64_t> due = soonest;
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    const int i = *it;
    const int32_t written = i < n ? instrs[i].dst : kNone;
    if (graph.nodes[i].first_edge < 0 ||
        (written != kNone && registers[written].global)) {
      continue;
    }
    due[i] = INT64_MAX;
    follow(i, [&](const Edge& edge) {
      due[i] = std::min(due[i], due[edge.to] - edge.cycles);
    });
  }
  due.resize(n);
  return due;
}

}  // namespace

IssueRanks::IssueRanks(IssueOrder order, absl::Span<const VInstr> instrs,
                       absl::Span<const VRegister> registers,
                       const Graph& graph, const isa::MachineModel& model,
                       int stretch)
    : rank_of(instrs.size()), earliest(instrs.size(), 0) {
  std::vector<int64_t> keys(instrs.size());
  if (order == IssueOrder::kSource || order == IssueOrder::kSafe) {
    std::iota(keys.begin(), keys.end(), 0);
  } else if (order == IssueOrder::kHeight) {
    for (size_t i = 0; i < keys.size(); ++i) keys[i] = -graph.nodes[i].height;
  } else {
    // The cycle at which the slots come to an instruction if all goes well:
    // none goes earlier, or loads of late copies would fill the registers.
    const int64_t n = std::max<int64_t>(1, instrs.size());
    const int64_t bound = SlotBound(instrs, graph, model) * stretch / 100;
    std::vector<int64_t> turns(instrs.size());
    for (size_t i = 0; i < instrs.size(); ++i) {
      turns[i] = static_cast<int64_t>(i) * bound / n;
      keys[i] = turns[i] - graph.nodes[i].height;
    }
    if (order == IssueOrder::kLate) {
      int64_t longest = 0;
      for (size_t i = 0; i < instrs.size(); ++i) {
        longest = std::max<int64_t>(longest, graph.nodes[i].height);
      }
      for (size_t i = 0; i < instrs.size(); ++i) {
        turns[i] += longest - graph.nodes[i].height;
      }
    } else if (order == IssueOrder::kDue) {
      turns = DueCycles(instrs, registers, graph, turns);
    }
    earliest.assign(turns.begin(), turns.end());
  }
  instr_of = SortedByKey(keys);
  for (size_t r = 0; r < instr_of.size(); ++r) {
    rank_of[instr_of[r]] = static_cast<int>(r);
  }
}

int64_t SlotBound(absl::Span<const VInstr> instrs, const Graph& graph,
                  const isa::MachineModel& model) {
  std::array<int64_t, isa::kNumSlots> uses{};
  std::vector<int64_t> busy(kNumUnitIndexes, 0);
  for (size_t i = 0; i < instrs.size(); ++i) {
    const isa::SlotMask slots = isa::Info(instrs[i].op).slots;
    for (int s = 0; s < isa::kNumSlots; ++s) uses[s] += slots >> s & 1;
    const Node& node = graph.nodes[i];
    if (node.unit >= 0) busy[node.unit] += node.interval;
  }
  int64_t bound = 1;
  for (int s = 0; s < isa::kNumSlots; ++s) {
    bound = std::max(
        bound, CeilOfRatio<int64_t>(uses[s], std::max(1, model.slots[s])));
  }
  for (const int64_t cycles : busy) bound = std::max(bound, cycles);
  return bound;
}

}  // namespace ptxla::codegen
