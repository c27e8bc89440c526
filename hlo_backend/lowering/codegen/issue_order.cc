#include "hlo_backend/lowering/codegen/issue_order.h"

#include <algorithm>
#include <array>
#include <numeric>

#include "base/units.h"

namespace ptxla::codegen {

IssueRanks::IssueRanks(IssueOrder order, absl::Span<const VInstr> instrs,
                       const Graph& graph, const isa::MachineModel& model)
    : rank_of(instrs.size()),
      instr_of(instrs.size()),
      earliest(instrs.size(), 0) {
  std::iota(instr_of.begin(), instr_of.end(), 0);
  if (order == IssueOrder::kHeight) {
    std::stable_sort(instr_of.begin(), instr_of.end(), [&](int a, int b) {
      return graph.nodes[a].height > graph.nodes[b].height;
    });
  } else if (order != IssueOrder::kSource) {
    // The cycle at which the slots come to an instruction if all goes well:
    // none goes earlier, or loads of late copies would fill the registers.
    const int64_t n = std::max<int64_t>(1, instrs.size());
    const int64_t bound = SlotBound(instrs, graph, model);
    const auto turn = [&](int i) { return i * bound / n; };
    const auto key = [&](int i) { return turn(i) - graph.nodes[i].height; };
    std::stable_sort(instr_of.begin(), instr_of.end(),
                     [&](int a, int b) { return key(a) < key(b); });
    int64_t longest = 0;
    for (size_t i = 0; i < instrs.size(); ++i) {
      longest = std::max<int64_t>(longest, graph.nodes[i].height);
    }
    for (size_t i = 0; i < instrs.size(); ++i) {
      const int64_t wait =
          order == IssueOrder::kLate ? longest - graph.nodes[i].height : 0;
      earliest[i] = static_cast<int>(turn(static_cast<int>(i)) + wait);
    }
  }
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
