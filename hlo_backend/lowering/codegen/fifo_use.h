// The FIFOs of the units while a block is scheduled: how many results each
// holds, and whose pop its next one is.
//
//   FifoUse fifos(graph, model);
//   fifos.StartBundle();
//   if (fifos.IsFree(i)) fifos.Issue(i);      // a push, a pop, or neither
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_USE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_USE_H_

#include <algorithm>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/dependences.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

class FifoUse {
 public:
  // Of the instructions of `graph`; both must outlive this.
  FifoUse(const Graph& graph, const isa::MachineModel& model)
      : graph_(graph),
        model_(model),
        waiting_(kNumFifoIndexes),
        outstanding_(kNumFifoIndexes, 0) {}

  void StartBundle() { popped_.clear(); }

  // Has the FIFO room for what instruction i pushes, or is its next result the
  // one that i pops? One pop of a FIFO in a bundle.
  bool IsFree(int i) const {
    const Node& node = graph_.nodes[i];
    if (node.fifo < 0) return true;
    if (!node.is_pop) return HasRoom(node);
    if (std::find(popped_.begin(), popped_.end(), node.fifo) != popped_.end()) {
      return false;
    }
    const PopQueue& queue = waiting_[node.fifo];
    return !queue.empty() && queue.front() == i;
  }

  void Issue(int i) {
    const Node& node = graph_.nodes[i];
    if (node.fifo < 0) return;
    if (node.is_pop) {
      popped_.push_back(node.fifo);
      waiting_[node.fifo].pop();
      --outstanding_[node.fifo];
      return;
    }
    outstanding_[node.fifo] += node.results;
    for (int r = 0; r < node.results; ++r) {
      waiting_[node.fifo].push(graph_.pops[node.first_pop + r]);
    }
  }

 private:
  // The pops that a FIFO is waiting for.
  class PopQueue {
   public:
    bool empty() const { return head_ == pops_.size(); }
    int front() const { return pops_[head_]; }
    void push(int pop) { pops_.push_back(pop); }
    void pop() { ++head_; }

   private:
    std::vector<int> pops_;
    size_t head_ = 0;
  };

  // The depth counts finished results; a matrix unit's results under way come
  // on top.
  bool HasRoom(const Node& node) const {
    const int depth = model_.fifo_depth[node.fifo / isa::kMaxUnits];
    const int under_way =
        node.results * (node.latency / std::max(node.interval, 1));
    const bool matrix =
        node.fifo / isa::kMaxUnits == static_cast<int>(isa::Fifo::kMrf);
    return depth == 0 || outstanding_[node.fifo] + node.results <=
                             depth + (matrix ? under_way : 0);
  }

  const Graph& graph_;
  const isa::MachineModel& model_;
  std::vector<PopQueue> waiting_;  // by FIFO index
  std::vector<int> outstanding_;   // results, by FIFO index
  std::vector<int16_t> popped_;    // in the open bundle
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_FIFO_USE_H_
