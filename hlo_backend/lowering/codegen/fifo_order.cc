#include "hlo_backend/lowering/codegen/fifo_order.h"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/check.h"

namespace ptxla::codegen {

using isa::Fifo;

void FifoOrder::Chain() {
  std::array<int, kNumFifoIndexes> push, pop;
  push.fill(-1);
  pop.fill(-1);
  for (int i = 0; i < static_cast<int>(instrs_.size()); ++i) {
    const Node& node = graph_->nodes[i];
    if (node.fifo < 0) continue;
    int& last = node.is_pop ? pop[node.fifo] : push[node.fifo];
    if (last >= 0) graph_->Connect(last, i, 1);
    last = i;
  }
}

int FifoOrder::Drained(int push, int start, int before, int i) {
  const int join = graph_->Join(i);
  const Node& node = graph_->nodes[push];
  const int spacing = isa::ResultSpacing(Shell(instrs_[push]), model_);
  graph_->Connect(start, join, node.latency + (node.results - 1) * spacing);
  if (start != push) graph_->Connect(push, join, node.latency);
  if (before >= 0) graph_->Connect(before, join, node.results * spacing);
  return join;
}

void FifoOrder::Pair() {
  // Results and pops of each FIFO in source order.
  std::array<std::vector<std::pair<int, int>>, kNumFifoIndexes> waiting;
  std::array<size_t, kNumFifoIndexes> taken{};
  // Of the last push of a transpose: the first one.
  std::vector<int> start_of(instrs_.size(), -1);
  // And where all results of the transposes before it are out.
  std::vector<int> behind(instrs_.size(), -1);
  std::array<int, kNumFifoIndexes> last_transpose;
  last_transpose.fill(-1);
  std::array<int, isa::kMaxUnits> open{};
  const int n = static_cast<int>(instrs_.size());
  int total = 0;
  for (int i = 0; i < n; ++i) {
    Node& node = graph_->nodes[i];
    if (node.fifo < 0 || node.is_pop) continue;
    node.first_pop = total;
    total += node.results;
  }
  graph_->pops.assign(total, -1);
  for (int i = 0; i < n; ++i) {
    const Node node = graph_->nodes[i];
    if (node.fifo < 0) continue;
    auto& queue = waiting[node.fifo];
    if (isa::IsXposePush(instrs_[i].op)) {
      int& start = open[instrs_[i].unit];
      if (isa::IsXposeStart(instrs_[i].op)) start = i;
      start_of[i] = start;
      if (node.results > 0) {
        const int last = std::exchange(last_transpose[node.fifo], i);
        if (last >= 0) {
          behind[i] = Drained(last, start_of[last], behind[last], i);
        }
      }
    }
    if (!node.is_pop) {
      for (int r = 0; r < node.results; ++r) queue.push_back({i, r});
      continue;
    }
    CHECK(taken[node.fifo] < queue.size()) << "a pop without a push";
    const auto [push, r] = queue[taken[node.fifo]++];
    graph_->pops[graph_->nodes[push].first_pop + r] = i;
    const isa::Instr shell = Shell(instrs_[push]);
    const int spacing = isa::ResultSpacing(shell, model_);
    const int latency = graph_->nodes[push].latency;
    if (isa::Info(instrs_[push].op).pushes != Fifo::kTranspose) {
      graph_->Connect(push, i, latency + r * spacing);
      continue;
    }
    // The first result comes a latency after the first push, the last one a
    // latency after the last push (isa::Pipeline).
    const int rest = graph_->nodes[push].results - 1 - r;
    graph_->Connect(start_of[push], i, latency + r * spacing);
    if (start_of[push] != push) {
      graph_->Connect(push, i, std::max(1, latency - rest * spacing));
    }
    // Results of short transposes wait for those of the ones before.
    if (behind[push] >= 0) graph_->Connect(behind[push], i, (r + 1) * spacing);
  }
  for (size_t f = 0; f < waiting.size(); ++f) {
    CHECK(taken[f] == waiting[f].size()) << "a result is never popped";
  }
}

}  // namespace ptxla::codegen
