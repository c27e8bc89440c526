#include "hlo_backend/lowering/custom_calls/issue_graph.h"

#include <algorithm>
#include <functional>
#include <queue>
#include <tuple>
#include <utility>

namespace ptxla::lowering {
namespace {

constexpr int kLoad = static_cast<int>(isa::Slot::kLoad);
constexpr int kStore = static_cast<int>(isa::Slot::kStore);

}  // namespace

IssueGraph::IssueGraph(const isa::MachineModel& model) : model_(&model) {
  unit_counts_.assign(1 + 2 * static_cast<size_t>(std::max(1, model.mxus)), 1);
  unit_counts_[0] = std::max(1, model.xlus);
  join_ = Kind({});
}

int IssueGraph::Kind(const Work& work) {
  for (size_t k = 0; k < kinds_.size(); ++k) {
    const Work& w = kinds_[k];
    if (w.slots == work.slots && w.latency == work.latency &&
        w.unit == work.unit && w.interval == work.interval &&
        w.mode == work.mode) {
      return static_cast<int>(k);
    }
  }
  kinds_.push_back(work);
  return static_cast<int>(kinds_.size()) - 1;
}

int IssueGraph::Add(int kind, absl::Span<const int> operands) {
  Node node{kind, operands_.size(), 0};
  for (const int operand : operands) {
    if (operand >= 0) operands_.push_back(operand);
  }
  node.count = operands_.size() - node.first;
  nodes_.push_back(node);
  return static_cast<int>(nodes_.size()) - 1;
}

std::array<int64_t, isa::kNumSlots> IssueGraph::Instructions() const {
  std::array<int64_t, isa::kNumSlots> sum{};
  for (const Node& n : nodes_) {
    for (int s = 0; s < isa::kNumSlots; ++s) sum[s] += kinds_[n.kind].slots[s];
  }
  return sum;
}

class IssueLoop {
 public:
  explicit IssueLoop(const IssueGraph& graph) : graph_(graph) {
    Connect();
    SetHeights();
    for (const Work& w : graph.kinds_) queue_of_.push_back(QueueOf(w));
    queues_.resize(isa::kNumSlots + graph.unit_counts_.size());
    for (const int count : graph.unit_counts_) {
      free_.emplace_back(static_cast<size_t>(count));
    }
  }

  int64_t Run() {
    for (size_t n = 0; n < graph_.nodes_.size(); ++n) {
      if (waiting_[n] == 0) pending_.push({0, static_cast<int>(n)});
    }
    int64_t cycle = 0;
    for (size_t left = graph_.nodes_.size(); left > 0;) {
      for (; !pending_.empty() && pending_.top().first <= cycle;) {
        const auto [ready, node] = pending_.top();
        pending_.pop();
        const int queue = queue_of_[graph_.nodes_[node].kind];
        if (queue < 0) {
          --left;
          Finish(node, ready);
        } else {
          const auto readers =
              static_cast<int64_t>(begin_[node + 1] - begin_[node]);
          queues_[queue].push({height_[node], readers, -node});
        }
      }
      bool idle = true;
      for (auto& queue : queues_) {
        while (!queue.empty() && Issue(-std::get<2>(queue.top()), cycle)) {
          queue.pop();
          --left;
        }
        idle = idle && queue.empty();
      }
      if (idle && !pending_.empty()) {
        cycle = std::max(cycle + (pending_.top().first > cycle ? 1 : 0),
                         pending_.top().first);
      } else if (pending_.empty() || pending_.top().first > cycle) {
        ++cycle;
      }
    }
    return end_;
  }

 private:
  struct Unit {
    int64_t free = 0, issued = 0;
    XluMode mode = XluMode::kAny;
  };
  using Entry = std::pair<int64_t, int>;  // cycle, node
  // Height, readers, and the first of a program first.
  using Urgency = std::tuple<int64_t, int64_t, int>;

  void Connect() {
    const size_t n = graph_.nodes_.size();
    waiting_.assign(n, 0);
    ready_.assign(n, 0);
    begin_.assign(n + 1, 0);
    for (const int operand : graph_.operands_) ++begin_[operand + 1];
    for (size_t k = 0; k < n; ++k) begin_[k + 1] += begin_[k];
    readers_.resize(graph_.operands_.size());
    std::vector<size_t> at(begin_.begin(), begin_.end() - 1);
    for (size_t k = 0; k < n; ++k) {
      const IssueGraph::Node& node = graph_.nodes_[k];
      waiting_[k] = static_cast<int>(node.count);
      for (size_t o = 0; o < node.count; ++o) {
        readers_[at[graph_.operands_[node.first + o]]++] = static_cast<int>(k);
      }
    }
  }

  // Cycles from a node's issue to the end of what needs it.
  void SetHeights() {
    height_.assign(graph_.nodes_.size(), 0);
    for (size_t k = height_.size(); k-- > 0;) {
      int64_t below = 0;
      for (size_t r = begin_[k]; r < begin_[k + 1]; ++r) {
        below = std::max(below, height_[readers_[r]]);
      }
      height_[k] = below + graph_.kinds_[graph_.nodes_[k].kind].latency;
    }
  }

  // By the unit, else by the slot that it needs most of.
  int QueueOf(const Work& w) const {
    if (w.unit >= 0) return isa::kNumSlots + w.unit;
    int best = -1;
    double most = 0;
    for (int s = 0; s < isa::kNumSlots; ++s) {
      const double share = w.slots[s] / static_cast<double>(Slots(s));
      if (share > most) {
        most = share;
        best = s;
      }
    }
    return best;
  }

  int Slots(int slot) const {
    return std::max(1, graph_.model_->Slots(static_cast<isa::Slot>(slot)));
  }
  uint8_t& Used(int slot, int64_t cycle) {
    std::vector<uint8_t>& used = used_[slot];
    if (cycle >= static_cast<int64_t>(used.size())) {
      used.resize(static_cast<size_t>(2 * cycle + 64), 0);
    }
    return used[cycle];
  }
  bool HasSlot(int slot, int64_t cycle) {
    if (Used(slot, cycle) >= Slots(slot)) return false;
    // 0: as many as there are slots.
    return (slot != kLoad && slot != kStore) ||
           graph_.model_->load_store_total == 0 ||
           Used(kLoad, cycle) + Used(kStore, cycle) <
               graph_.model_->load_store_total;
  }

  int Switch(XluMode from, XluMode to) const {
    if (from == XluMode::kReduce && to == XluMode::kPermute) {
      return graph_.to_permute_;
    }
    return from == XluMode::kPermute && to == XluMode::kReduce
               ? graph_.to_reduce_
               : 0;
  }

  // False: neither its slot nor its unit is free in this cycle.
  bool Issue(int node, int64_t cycle) {
    const int kind = graph_.nodes_[node].kind;
    const Work& w = graph_.kinds_[kind];
    Unit* unit = nullptr;
    if (w.unit >= 0) {
      int64_t best = 0;
      for (Unit& u : free_[w.unit]) {
        const int64_t at = std::max(u.free, u.issued + Switch(u.mode, w.mode));
        if (unit == nullptr || at < best) {
          best = at;
          unit = &u;
        }
      }
      if (best > cycle) return false;
    } else if (!HasSlot(queue_of_[kind], cycle)) {
      return false;
    }
    if (unit != nullptr) *unit = {cycle + w.interval, cycle, w.mode};
    int64_t last = cycle;
    for (int s = 0; s < isa::kNumSlots; ++s) {
      int64_t at = cycle;
      for (int n = w.slots[s]; n > 0; --n) {
        while (!HasSlot(s, at)) ++at;
        ++Used(s, at);
        last = std::max(last, at);
      }
    }
    Finish(node, std::max(cycle + w.latency, last) - w.latency);
    return true;
  }

  void Finish(int node, int64_t issued) {
    const int64_t done =
        issued + graph_.kinds_[graph_.nodes_[node].kind].latency;
    end_ = std::max(end_, done);
    for (size_t r = begin_[node]; r < begin_[node + 1]; ++r) {
      const int reader = readers_[r];
      ready_[reader] = std::max(ready_[reader], done);
      if (--waiting_[reader] == 0) pending_.push({ready_[reader], reader});
    }
  }

  const IssueGraph& graph_;
  std::vector<int> waiting_, readers_;
  std::vector<size_t> begin_;  // of each node's readers
  std::vector<int64_t> ready_, height_;
  std::vector<int> queue_of_;  // of each kind
  std::vector<std::priority_queue<Urgency>> queues_;
  std::priority_queue<Entry, std::vector<Entry>, std::greater<Entry>> pending_;
  std::vector<std::vector<Unit>> free_;  // of each group of units
  std::array<std::vector<uint8_t>, isa::kNumSlots> used_;
  int64_t end_ = 0;
};

int64_t IssueGraph::Schedule() const { return IssueLoop(*this).Run(); }

}  // namespace ptxla::lowering
