#include "hlo_backend/lowering/codegen/schedule.h"

#include <algorithm>
#include <numeric>
#include <queue>

#include "absl/status/status.h"
#include "base/check.h"
#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/allocate_registers.h"
#include "hlo_backend/lowering/codegen/bundle_resources.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/ready_queues.h"
#include "hlo_backend/lowering/codegen/slot_use.h"

namespace ptxla::codegen {
namespace {

constexpr int kNumSlots = isa::kNumSlots;

// Shorter blocks have no copies to stagger.
constexpr size_t kFewInstructions = 32;

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

// Which ready instruction is the most urgent.
enum class Order : uint8_t {
  // On the longest path: copies of a formula go through it side by side.
  kHeight,
  // Copies one behind the other, each as far as the units are taken by those
  // before it: few values are alive at once, and units that the formula uses
  // at different times work at the same time.
  kStaggered,
  kSource,  // as written
};

class Scheduler {
 public:
  Scheduler(absl::Span<const VInstr> instrs,
            absl::Span<const VRegister> registers,
            const isa::MachineModel& model, const RegisterBudget& budget,
            Graph graph, BlockMode mode, Order order)
      : instrs_(instrs),
        registers_(registers),
        model_(model),
        graph_(std::move(graph)),
        pipelined_(mode == BlockMode::kPipelined),
        range_(instrs),
        ready_(static_cast<int>(instrs.size())),
        slots_(model) {
    for (int c = 0; c < isa::kNumRegClasses; ++c) {
      limit_[c] = static_cast<int>(budget.free[c].size());
    }
    pending_.resize(graph_.nodes.size());
    earliest_.assign(graph_.nodes.size(), 0);
    for (size_t i = 0; i < graph_.nodes.size(); ++i) {
      pending_[i] = graph_.nodes[i].num_preds;
    }
    RankAll(order);
    reads_.assign(range_.size(), 0);
    for (const VInstr& v : instrs) {
      ForEachRead(v, [&](int32_t reg) { ++reads_[reg - range_.first]; });
    }
    fifo_head_.resize(kNumFifoIndexes);
    outstanding_.assign(kNumFifoIndexes, 0);
    unit_free_.assign(kNumUnitIndexes, 0);
    first_use_.assign(kNumUnitIndexes, -1);
  }

  // Cycles for which the fullest slot or unit is taken: no order is shorter.
  int64_t SlotBound() const {
    std::array<int64_t, kNumSlots> uses{};
    std::vector<int64_t> busy(kNumUnitIndexes, 0);
    for (size_t i = 0; i < instrs_.size(); ++i) {
      const isa::SlotMask slots = isa::Info(instrs_[i].op).slots;
      for (int s = 0; s < kNumSlots; ++s) uses[s] += slots >> s & 1;
      const Node& node = graph_.nodes[i];
      if (node.unit >= 0) busy[node.unit] += node.interval;
    }
    int64_t bound = 1;
    for (int s = 0; s < kNumSlots; ++s) {
      bound = std::max(
          bound, CeilOfRatio<int64_t>(uses[s], std::max(1, model_.slots[s])));
    }
    for (const int64_t cycles : busy) bound = std::max(bound, cycles);
    return bound;
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
      while (!landing_.empty() && landing_.top().first <= cycle) {
        --live_[landing_.top().second];
        landing_.pop();
      }
      const int before = done;
      StartBundle();
      for (int i; (i = PickOne(cycle)) >= 0; ++done) {
        Issue(i, cycle);
        result.order.push_back({cycle, i});
        end = std::max(end, EndOf(i, cycle));
      }
      if (done != before) continue;
      const int next = NextEvent(cycle);
      if (next == INT32_MAX) {
        return absl::ResourceExhaustedError(absl::StrCat(
            "no order of a block of ", n, " instructions keeps within ",
            limit_[0], " vector registers"));
      }
      // Nothing becomes possible before that.
      cycle = next - 1;
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

  void RankAll(Order order) {
    instr_of_.resize(instrs_.size());
    std::iota(instr_of_.begin(), instr_of_.end(), 0);
    if (order == Order::kHeight) {
      std::stable_sort(instr_of_.begin(), instr_of_.end(), [&](int a, int b) {
        return graph_.nodes[a].height > graph_.nodes[b].height;
      });
    } else if (order == Order::kStaggered) {
      // The cycle at which the slots come to an instruction if all goes well:
      // none goes earlier, or loads of late copies would fill the registers.
      const int64_t n = std::max<int64_t>(1, instrs_.size());
      const int64_t bound = SlotBound();
      const auto turn = [&](int i) { return i * bound / n; };
      const auto key = [&](int i) { return turn(i) - graph_.nodes[i].height; };
      std::stable_sort(instr_of_.begin(), instr_of_.end(),
                       [&](int a, int b) { return key(a) < key(b); });
      for (size_t i = 0; i < instrs_.size(); ++i) {
        earliest_[i] = static_cast<int>(turn(static_cast<int>(i)));
      }
    }
    rank_of_.resize(instrs_.size());
    for (size_t r = 0; r < instr_of_.size(); ++r) rank_of_[instr_of_[r]] = r;
  }

  void MakeReady(int i) {
    ready_.Insert(rank_of_[i], isa::Info(instrs_[i].op).slots);
  }

  void StartBundle() {
    slots_.Open();
    loads_.clear();
    fifos_used_.clear();
    ready_.StartBundle();
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
      if (reads_[reg - range_.first] == uses &&
          static_cast<int>(registers_[reg].cls) == cls) {
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
      int best = -1, rank = INT32_MAX;
      for (int q = 0; q < ready_.count(); ++q) {
        const int front = ready_.Front(q);
        if (front < 0 || front >= rank) continue;
        if (ready_.slots(q) & slots_.full()) {
          ready_.Close(q);
          continue;
        }
        best = q;
        rank = front;
      }
      if (best < 0) return -1;
      const int i = instr_of_[rank];
      const Node& node = graph_.nodes[i];
      if (UnitFree(node, cycle) && FifoFree(i) && BanksFree(instrs_[i]) &&
          RegistersFit(i)) {
        ready_.Take(best, rank);
        return i;
      }
      ready_.PassOver(best, rank);
    }
  }

  void Issue(int i, int cycle) {
    const VInstr& v = instrs_[i];
    const Node& node = graph_.nodes[i];
    slots_.Take(isa::Info(v.op).slots);
    if (isa::IsVectorLoad(v.op)) loads_.push_back(i);
    if (node.unit >= 0) {
      unit_free_[node.unit] = cycle + node.interval;
      if (first_use_[node.unit] < 0) first_use_[node.unit] = cycle;
    }
    if (node.fifo >= 0 && !pipelined_) {
      if (node.is_pop) {
        fifos_used_.push_back(node.fifo);
        fifo_head_[node.fifo].pop();
        --outstanding_[node.fifo];
      } else {
        outstanding_[node.fifo] += node.results;
        for (int r = 0; r < node.results; ++r) {
          fifo_head_[node.fifo].push(graph_.pops[node.first_pop + r]);
        }
      }
    }
    ForEachRead(v, [&](int32_t reg) {
      if (--reads_[reg - range_.first] == 0)
        --live_[static_cast<int>(registers_[reg].cls)];
    });
    const FieldClasses& f = FieldsOf(v.op);
    if (f.dst >= 0 && !f.dst_is_read && v.dst != kNone &&
        !registers_[v.dst].global) {
      ++live_[f.dst];
      // What nobody reads takes its register until the write lands, as the
      // allocation has it.
      if (reads_[v.dst - range_.first] == 0) {
        landing_.push({cycle + std::max(node.latency, 1), f.dst});
      }
    }
    reached_.assign(1, {cycle, i});
    while (!reached_.empty()) {
      const auto [at, from] = reached_.back();
      reached_.pop_back();
      Follow(from, at, cycle);
    }
  }

  // Those that wait for a node that is reached at `at`.
  void Follow(int from, int at, int cycle) {
    for (int e = graph_.nodes[from].first_edge; e >= 0;
         e = graph_.edges[e].next) {
      const Edge& edge = graph_.edges[e];
      int& earliest = earliest_[edge.to];
      earliest = std::max(earliest, at + edge.cycles);
      if (--pending_[edge.to] > 0) continue;
      if (edge.to >= static_cast<int>(instrs_.size())) {
        reached_.push_back({earliest, edge.to});
      } else if (earliest <= cycle) {
        MakeReady(edge.to);
      } else {
        Release(edge.to);
      }
    }
  }

  // The next cycle at which something lands or a unit is free again.
  int NextEvent(int cycle) const {
    int next = future_.empty() ? INT32_MAX : future_.top().first;
    if (!landing_.empty()) next = std::min(next, landing_.top().first);
    for (int free : unit_free_) {
      if (free > cycle) next = std::min(next, free);
    }
    return next;
  }

  absl::Span<const VInstr> instrs_;
  absl::Span<const VRegister> registers_;
  const isa::MachineModel& model_;
  Graph graph_;
  const bool pipelined_;
  const RegisterRange range_;
  std::array<int, isa::kNumRegClasses> limit_{};
  std::array<int, isa::kNumRegClasses> live_{};
  std::vector<int> pending_, earliest_;  // by node
  std::vector<int> reads_;               // still to come, by range_
  std::vector<int> rank_of_, instr_of_;  // by urgency
  using Waiting = std::pair<int, int>;   // (cycle, instruction)
  std::vector<Waiting> reached_;         // and joins
  using WaitingQueue =
      std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>>;
  WaitingQueue future_;
  WaitingQueue landing_;  // (cycle, class) of results that nobody reads
  ReadyQueues ready_;
  SlotUse slots_;
  std::vector<int> loads_;
  std::vector<int16_t> fifos_used_;
  std::vector<PopQueue> fifo_head_;
  std::vector<int> outstanding_;
  std::vector<int> unit_free_, first_use_;
};

}  // namespace

absl::StatusOr<BlockSchedule> ScheduleBlock(
    absl::Span<const VInstr> instrs, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget,
    BlockMode mode) {
  const auto attempt = [&](Order order, BlockMode graph_mode,
                           int64_t* bound) -> absl::StatusOr<BlockSchedule> {
    Scheduler scheduler(instrs, registers, model, budget,
                        BuildGraph(instrs, registers, model, graph_mode), mode,
                        order);
    if (bound != nullptr) *bound = scheduler.SlotBound();
    ASSIGN_OR_RETURN(BlockSchedule schedule, scheduler.Run());
    RETURN_IF_ERROR(
        AllocateRegisters(instrs, registers, model, budget, &schedule));
    return schedule;
  };
  // The longest path first; another order where that leaves slots empty or
  // runs out of registers.
  int64_t bound = 0;
  auto best = attempt(Order::kHeight, mode, &bound);
  if (mode == BlockMode::kFree && instrs.size() >= kFewInstructions &&
      (!best.ok() || best->cycles > bound + bound / 8)) {
    auto staggered = attempt(Order::kStaggered, mode, nullptr);
    if (staggered.ok() && (!best.ok() || staggered->cycles < best->cycles)) {
      best = std::move(staggered);
    }
  }
  if (best.ok()) return best;
  // The order in which the code was written, then that order and nothing else.
  best = attempt(Order::kSource, mode, nullptr);
  if (!best.ok() && mode == BlockMode::kFree) {
    best = attempt(Order::kSource, BlockMode::kInOrder, nullptr);
  }
  return best;
}

absl::StatusOr<BlockSchedule> AllocatePlaced(
    const VNode& block, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget) {
  BlockSchedule schedule;
  schedule.order.reserve(block.instrs.size());
  for (size_t i = 0; i < block.instrs.size(); ++i) {
    schedule.order.push_back({block.at[i], static_cast<int32_t>(i)});
  }
  schedule.cycles = block.length;
  RETURN_IF_ERROR(
      AllocateRegisters(block.instrs, registers, model, budget, &schedule));
  return schedule;
}

}  // namespace ptxla::codegen
