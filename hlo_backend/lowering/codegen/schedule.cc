#include "hlo_backend/lowering/codegen/schedule.h"

#include <algorithm>
#include <deque>
#include <queue>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/bundle_resources.h"
#include "hlo_backend/lowering/codegen/dependences.h"

namespace ptxla::codegen {
namespace {

using isa::Slot;

constexpr int kNumSlots = isa::kNumSlots;

// Ready instructions that compete for the same slots; the most urgent first.
struct ReadyQueue {
  isa::SlotMask slots = 0;
  std::vector<int> heap;
};

class Scheduler {
 public:
  Scheduler(absl::Span<const VInstr> instrs,
            absl::Span<const VRegister> registers,
            const isa::MachineModel& model, const RegisterBudget& budget,
            Graph graph, BlockMode mode, bool source_order)
      : instrs_(instrs),
        registers_(registers),
        model_(model),
        graph_(std::move(graph)),
        pipelined_(mode == BlockMode::kPipelined),
        source_order_(source_order) {
    for (int c = 0; c < isa::kNumRegClasses; ++c) {
      limit_[c] = static_cast<int>(budget.free[c].size());
    }
    pending_.resize(instrs.size());
    earliest_.assign(instrs.size(), 0);
    for (size_t i = 0; i < instrs.size(); ++i) {
      pending_[i] = graph_.nodes[i].num_preds;
    }
    reads_.assign(registers.size(), 0);
    for (const VInstr& v : instrs) {
      ForEachRead(v, [&](int32_t reg) { ++reads_[reg]; });
    }
    fifo_head_.resize(kNumFifoIndexes);
    outstanding_.assign(kNumFifoIndexes, 0);
    unit_free_.assign(kNumUnitIndexes, 0);
    first_use_.assign(kNumUnitIndexes, -1);
  }

  absl::StatusOr<BlockSchedule> Run() {
    const int n = static_cast<int>(instrs_.size());
    BlockSchedule result;
    result.order.reserve(n);
    for (int i = 0; i < n; ++i) {
      if (pending_[i] == 0) Release(i);
    }
    int done = 0;
    int64_t end = 0;
    for (int cycle = 0; done < n; ++cycle) {
      while (!future_.empty() && future_.top().first <= cycle) {
        MakeReady(future_.top().second);
        future_.pop();
      }
      const int before = done;
      StartBundle();
      for (int i; (i = PickOne(cycle)) >= 0; ++done) {
        Issue(i, cycle);
        result.order.push_back({cycle, i});
        end = std::max(end, EndOf(i, cycle));
      }
      if (done == before && future_.empty() && !WaitsForUnit(cycle)) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "no order of a block of ", n, " instructions keeps within ",
            limit_[0], " vector registers"));
      }
    }
    result.cycles = std::max<int64_t>(end, 1);
    return result;
  }

 private:
  template <class Fn>
  void ForEachRead(const VInstr& v, Fn fn) const {
    const FieldClasses& f = FieldsOf(v.op);
    const auto read = [&](int8_t cls, int32_t reg) {
      if (cls >= 0 && reg != kNone && !registers_[reg].global) fn(reg);
    };
    read(f.a, v.a);
    read(f.b, v.b);
    read(f.c, v.c);
    if (f.dst_is_read) read(f.dst, v.dst);
    if (v.guard != kNone && !registers_[v.guard].global) fn(v.guard);
  }

  // First cycle at which nothing of instruction i is under way.
  int64_t EndOf(int i, int cycle) const {
    const Node& node = graph_.nodes[i];
    int64_t end = cycle + 1;
    if (node.fifo < 0) end = std::max<int64_t>(end, cycle + node.latency);
    if (node.unit >= 0) {
      // A stage of a pipeline follows itself: the unit is asked again only
      // where this block asks it first.
      const int first = pipelined_ ? first_use_[node.unit] : 0;
      end = std::max<int64_t>(end, cycle + node.interval - std::max(first, 0));
    }
    return end;
  }

  void Release(int i) { future_.push({earliest_[i], i}); }

  bool MoreUrgent(int a, int b) const {
    if (!source_order_ && graph_.nodes[a].height != graph_.nodes[b].height) {
      return graph_.nodes[a].height > graph_.nodes[b].height;
    }
    return a < b;
  }

  void MakeReady(int i) {
    const isa::SlotMask slots = isa::Info(instrs_[i].op).slots;
    ReadyQueue* queue = nullptr;
    for (ReadyQueue& q : ready_) {
      if (q.slots == slots) queue = &q;
    }
    if (queue == nullptr) {
      ready_.push_back({slots, {}});
      queue = &ready_.back();
    }
    queue->heap.push_back(i);
    std::push_heap(queue->heap.begin(), queue->heap.end(),
                   [&](int a, int b) { return MoreUrgent(b, a); });
  }

  int Pop(ReadyQueue* q) {
    std::pop_heap(q->heap.begin(), q->heap.end(),
                  [&](int a, int b) { return MoreUrgent(b, a); });
    const int i = q->heap.back();
    q->heap.pop_back();
    return i;
  }

  void StartBundle() {
    used_.fill(0);
    memory_used_ = 0;
    loads_.clear();
    fifos_used_.clear();
    for (ReadyQueue& q : ready_) {
      for (int i : postponed_[&q - ready_.data()]) {
        q.heap.push_back(i);
        std::push_heap(q.heap.begin(), q.heap.end(),
                       [&](int a, int b) { return MoreUrgent(b, a); });
      }
      postponed_[&q - ready_.data()].clear();
    }
    blocked_.assign(ready_.size(), false);
  }

  bool SlotsFree(isa::SlotMask slots) const {
    for (int s = 0; s < kNumSlots; ++s) {
      if ((slots >> s & 1) && used_[s] >= model_.slots[s]) return false;
    }
    const bool misc = slots & isa::Bit(Slot::kMisc);
    const bool load = slots & isa::Bit(Slot::kLoad);
    const bool store = slots & isa::Bit(Slot::kStore);
    if ((misc || load || store) && memory_used_ >= model_.load_store_total) {
      return false;
    }
    // Misc instructions count as a load and as a store too.
    const int misc_used = used_[static_cast<int>(Slot::kMisc)];
    if ((misc || load) && used_[static_cast<int>(Slot::kLoad)] + misc_used >=
                              model_.slots[static_cast<int>(Slot::kLoad)]) {
      return false;
    }
    if ((misc || store) && used_[static_cast<int>(Slot::kStore)] + misc_used >=
                               model_.slots[static_cast<int>(Slot::kStore)]) {
      return false;
    }
    return true;
  }

  // Registers that the instruction would add to the live ones, per class.
  bool RegistersFit(int i) {
    const VInstr& v = instrs_[i];
    const FieldClasses& f = FieldsOf(v.op);
    if (f.dst < 0 || f.dst_is_read || v.dst == kNone ||
        registers_[v.dst].global) {
      return true;
    }
    const int cls = f.dst;
    if (live_[cls] < limit_[cls]) return true;
    int freed = 0;
    int32_t seen[5];
    int num_seen = 0;
    ForEachRead(v, [&](int32_t reg) {
      seen[num_seen++] = reg;
      const int uses = static_cast<int>(std::count(seen, seen + num_seen, reg));
      if (reads_[reg] == uses && static_cast<int>(registers_[reg].cls) == cls) {
        ++freed;
      }
    });
    return freed > 0;
  }

  bool BanksFree(const VInstr& v) const {
    if (model_.vmem_banks == 0 || !isa::IsVectorLoad(v.op)) return true;
    for (int other : loads_) {
      if (SameBank(v, instrs_[other], model_, registers_)) return false;
    }
    return true;
  }

  bool UnitFree(const Node& node, int cycle) const {
    return node.unit < 0 || unit_free_[node.unit] <= cycle;
  }

  bool FifoFree(int i) const {
    const Node& node = graph_.nodes[i];
    if (node.fifo < 0 || pipelined_) return true;
    for (int16_t f : fifos_used_) {
      if (f == node.fifo) return node.is_pop ? false : FifoHasRoom(node);
    }
    if (!node.is_pop) return FifoHasRoom(node);
    const auto& queue = fifo_head_[node.fifo];
    return !queue.empty() && queue.front() == i;
  }

  bool FifoHasRoom(const Node& node) const {
    // The depth counts finished results; results under way come on top.
    const int depth = model_.fifo_depth[node.fifo / isa::kMaxUnits];
    const int under_way =
        node.results * (node.latency / std::max(node.interval, 1));
    const bool matrix =
        node.fifo / isa::kMaxUnits == static_cast<int>(isa::Fifo::kMrf);
    return depth == 0 || outstanding_[node.fifo] + node.results <=
                             depth + (matrix ? under_way : 0);
  }

  // The most urgent ready instruction that fits into the open bundle, or -1.
  int PickOne(int cycle) {
    while (true) {
      int best = -1;
      for (int q = 0; q < static_cast<int>(ready_.size()); ++q) {
        if (blocked_[q] || ready_[q].heap.empty()) continue;
        if (!SlotsFree(ready_[q].slots)) {
          blocked_[q] = true;
          continue;
        }
        if (best < 0 ||
            MoreUrgent(ready_[q].heap.front(), ready_[best].heap.front())) {
          best = q;
        }
      }
      if (best < 0) return -1;
      const int i = Pop(&ready_[best]);
      const Node& node = graph_.nodes[i];
      if (UnitFree(node, cycle) && FifoFree(i) && BanksFree(instrs_[i]) &&
          RegistersFit(i)) {
        return i;
      }
      auto& waiting = postponed_[best];
      waiting.push_back(i);
      // Looking at all of a long queue in every cycle would be quadratic.
      if (waiting.size() >= kLookahead) blocked_[best] = true;
    }
  }

  void Issue(int i, int cycle) {
    const VInstr& v = instrs_[i];
    const Node& node = graph_.nodes[i];
    const isa::SlotMask slots = isa::Info(v.op).slots;
    for (int s = 0; s < kNumSlots; ++s) {
      if (slots >> s & 1) ++used_[s];
    }
    if (slots & (isa::Bit(Slot::kLoad) | isa::Bit(Slot::kStore) |
                 isa::Bit(Slot::kMisc))) {
      ++memory_used_;
    }
    if (isa::IsVectorLoad(v.op)) loads_.push_back(i);
    if (node.unit >= 0) {
      unit_free_[node.unit] = cycle + node.interval;
      if (first_use_[node.unit] < 0) first_use_[node.unit] = cycle;
    }
    if (node.fifo >= 0 && !pipelined_) {
      if (node.is_pop) {
        fifos_used_.push_back(node.fifo);
        fifo_head_[node.fifo].pop_front();
        --outstanding_[node.fifo];
      } else {
        outstanding_[node.fifo] += node.results;
        for (int r = 0; r < node.results; ++r) {
          fifo_head_[node.fifo].push_back(graph_.pops[node.first_pop + r]);
        }
      }
    }
    ForEachRead(v, [&](int32_t reg) {
      if (--reads_[reg] == 0) --live_[static_cast<int>(registers_[reg].cls)];
    });
    const FieldClasses& f = FieldsOf(v.op);
    if (f.dst >= 0 && !f.dst_is_read && v.dst != kNone &&
        !registers_[v.dst].global && reads_[v.dst] > 0) {
      ++live_[f.dst];
    }
    for (int e = node.first_edge; e >= 0; e = graph_.edges[e].next) {
      const Edge& edge = graph_.edges[e];
      earliest_[edge.to] = std::max(earliest_[edge.to], cycle + edge.cycles);
      if (--pending_[edge.to] == 0) {
        if (earliest_[edge.to] <= cycle) {
          MakeReady(edge.to);
          if (blocked_.size() < ready_.size()) blocked_.push_back(false);
        } else {
          Release(edge.to);
        }
      }
    }
  }

  bool WaitsForUnit(int cycle) const {
    for (int free : unit_free_) {
      if (free > cycle) return true;
    }
    return false;
  }

  static constexpr size_t kLookahead = 64;

  absl::Span<const VInstr> instrs_;
  absl::Span<const VRegister> registers_;
  const isa::MachineModel& model_;
  Graph graph_;
  const bool pipelined_;
  const bool source_order_;
  std::array<int, isa::kNumRegClasses> limit_{};
  std::array<int, isa::kNumRegClasses> live_{};
  std::vector<int> pending_, earliest_, reads_;
  using Waiting = std::pair<int, int>;  // (cycle, instruction)
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> future_;
  std::vector<ReadyQueue> ready_;
  std::array<std::vector<int>, 32> postponed_;
  std::vector<bool> blocked_;
  std::array<int, kNumSlots> used_{};
  int memory_used_ = 0;
  std::vector<int> loads_;
  std::vector<int16_t> fifos_used_;
  std::vector<std::deque<int>> fifo_head_;
  std::vector<int> outstanding_;
  std::vector<int> unit_free_, first_use_;
};

// Physical registers of locals, by a walk over the schedule: a register is
// free again in the bundle of its last read.
absl::Status Allocate(absl::Span<const VInstr> instrs,
                      absl::Span<const VRegister> registers,
                      const RegisterBudget& budget, BlockSchedule* s) {
  int32_t first = INT32_MAX, last = -1;
  const auto local = [&](int8_t cls, int32_t reg) {
    return cls >= 0 && reg != kNone && !registers[reg].global;
  };
  std::vector<int> reads(registers.size(), 0);
  const auto for_reads = [&](const VInstr& v, auto fn) {
    const FieldClasses& f = FieldsOf(v.op);
    if (local(f.a, v.a)) fn(v.a);
    if (local(f.b, v.b)) fn(v.b);
    if (local(f.c, v.c)) fn(v.c);
    if (f.dst_is_read && local(f.dst, v.dst)) fn(v.dst);
    if (local(0, v.guard)) fn(v.guard);
  };
  for (const VInstr& v : instrs) {
    for_reads(v, [&](int32_t reg) { ++reads[reg]; });
    const FieldClasses& f = FieldsOf(v.op);
    if (local(f.dst, v.dst)) {
      first = std::min(first, v.dst);
      last = std::max(last, v.dst);
    }
  }
  if (last < 0) return absl::OkStatus();
  s->first_local = first;
  s->physical.assign(last - first + 1, isa::kNoReg);
  auto free = budget.free;
  for (size_t begin = 0; begin < s->order.size();) {
    size_t end = begin;
    while (end < s->order.size() &&
           s->order[end].first == s->order[begin].first) {
      ++end;
    }
    for (size_t k = begin; k < end; ++k) {
      for_reads(instrs[s->order[k].second], [&](int32_t reg) {
        if (--reads[reg] == 0) {
          free[static_cast<int>(registers[reg].cls)].push_back(
              s->physical[reg - first]);
        }
      });
    }
    std::array<std::vector<uint8_t>, isa::kNumRegClasses> unread;
    for (size_t k = begin; k < end; ++k) {
      const VInstr& v = instrs[s->order[k].second];
      const FieldClasses& f = FieldsOf(v.op);
      if (f.dst_is_read || !local(f.dst, v.dst)) continue;
      auto& list = free[f.dst];
      if (list.empty()) {
        static constexpr const char* kNames[] = {"vector", "scalar", "mask",
                                                 "predicate"};
        return absl::ResourceExhaustedError(
            absl::StrCat("out of ", kNames[f.dst], " registers in a block"));
      }
      const uint8_t reg = list.back();
      list.pop_back();
      s->physical[v.dst - first] = reg;
      if (reads[v.dst] == 0) unread[f.dst].push_back(reg);
    }
    // A result that nobody reads gives its register back at once.
    for (int c = 0; c < isa::kNumRegClasses; ++c) {
      free[c].insert(free[c].end(), unread[c].begin(), unread[c].end());
    }
    begin = end;
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<BlockSchedule> ScheduleBlock(
    absl::Span<const VInstr> instrs, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget,
    BlockMode mode) {
  absl::Status failure;
  // The longest path first; where that runs out of registers, the order in
  // which the code was written, then that order and nothing else.
  for (int attempt = 0; attempt < 3; ++attempt) {
    if (attempt == 2 && mode != BlockMode::kFree) break;
    Scheduler scheduler(instrs, registers, model, budget,
                        BuildGraph(instrs, registers, model,
                                   attempt == 2 ? BlockMode::kInOrder : mode),
                        mode, /*source_order=*/attempt > 0);
    auto result = scheduler.Run();
    if (result.ok()) {
      failure = Allocate(instrs, registers, budget, &*result);
      if (failure.ok()) return result;
    } else {
      failure = result.status();
    }
  }
  return failure;
}

absl::StatusOr<BlockSchedule> AllocatePlaced(
    const VNode& block, absl::Span<const VRegister> registers,
    const RegisterBudget& budget) {
  BlockSchedule schedule;
  schedule.order.reserve(block.instrs.size());
  for (size_t i = 0; i < block.instrs.size(); ++i) {
    schedule.order.push_back({block.at[i], static_cast<int32_t>(i)});
  }
  schedule.cycles = block.length;
  RETURN_IF_ERROR(Allocate(block.instrs, registers, budget, &schedule));
  return schedule;
}

}  // namespace ptxla::codegen
