#include "hlo_backend/lowering/codegen/schedule.h"

#include <algorithm>
#include <functional>
#include <optional>
#include <queue>
#include <utility>

#include "absl/status/status.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/allocate_registers.h"
#include "hlo_backend/lowering/codegen/bundle_resources.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/fifo_use.h"
#include "hlo_backend/lowering/codegen/issue_order.h"
#include "hlo_backend/lowering/codegen/live_registers.h"
#include "hlo_backend/lowering/codegen/local_reads.h"
#include "hlo_backend/lowering/codegen/ready_queues.h"
#include "hlo_backend/lowering/codegen/safe_order.h"
#include "hlo_backend/lowering/codegen/slot_use.h"

namespace ptxla::codegen {
namespace {

// Shorter blocks have no copies to stagger.
constexpr size_t kFewInstructions = 32;

// A schedule of so many times the cycles that the slots take waits for
// registers: others are tried from there on, up to the second. ASSUMED.
constexpr int64_t kWaiting = 2, kWaitsTooLong = 4;
// Copies of kDue are so far apart, in percent: what is due meets units that are
// taken, and waits in registers. ASSUMED, a search.
constexpr int kDueStretches[] = {100, 112, 125, 150};
// How much further apart copies are then, in percent; ASSUMED, a search.
constexpr int kStretches[] = {125, 150, 200, 300, 400, 600, 900, 1400};

class Scheduler {
 public:
  Scheduler(absl::Span<const VInstr> instrs,
            absl::Span<const VRegister> registers, const LocalReads& reads,
            const isa::MachineModel& model, const RegisterBudget& budget,
            const Graph& graph, BlockMode mode, IssueOrder order, int stretch)
      : instrs_(instrs),
        registers_(registers),
        model_(model),
        graph_(graph),
        pipelined_(mode == BlockMode::kPipelined),
        ranks_(order, instrs, registers, graph, model, stretch),
        live_(reads, registers, budget),
        fifos_(graph, model),
        ready_(static_cast<int>(instrs.size())),
        slots_(model),
        unit_free_(kNumUnitIndexes, 0),
        first_use_(kNumUnitIndexes, -1) {
    pending_.reserve(graph.nodes.size());
    for (const Node& node : graph.nodes) pending_.push_back(node.num_preds);
    earliest_ = ranks_.earliest;
    earliest_.resize(graph.nodes.size(), 0);
    if (order == IssueOrder::kSafe) {
      safe_.emplace(instrs, registers, reads, graph,
                    live_.limit(isa::RegClass::kVector));
    }
  }

  // ResourceExhausted: no order keeps within the registers, or this one takes
  // `limit` cycles or more.
  absl::StatusOr<BlockSchedule> Run(int64_t limit) {
    const int n = static_cast<int>(instrs_.size());
    BlockSchedule result;
    result.order.reserve(n);
    for (int i = 0; i < n; ++i) {
      if (pending_[i] == 0) Release(i);
    }
    int done = 0;
    int64_t end = 0;
    for (int cycle = 0; done < n; ++cycle) {
      // What is still to come issues now or later.
      if (std::max<int64_t>(end, cycle + 1) >= limit) return IsTooLong(limit);
      while (!future_.empty() && future_.top().first <= cycle) {
        MakeReady(future_.top().second);
        future_.pop();
      }
      live_.Land(cycle);
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
            live_.limit(isa::RegClass::kVector), " vector registers"));
      }
      // Nothing becomes possible before that.
      cycle = next - 1;
    }
    if (end >= limit) return IsTooLong(limit);
    result.cycles = std::max<int64_t>(end, 1);
    return result;
  }

 private:
  static absl::Status IsTooLong(int64_t limit) {
    return absl::ResourceExhaustedError(
        absl::StrCat("an order that takes ", limit, " cycles or more"));
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

  void MakeReady(int i) {
    ready_.Insert(ranks_.rank_of[i], isa::Info(instrs_[i].op).slots);
  }

  void StartBundle() {
    slots_.Open();
    loads_.clear();
    fifos_.StartBundle();
    ready_.StartBundle();
  }

  bool BanksFree(const VInstr& v) const {
    if (model_.vmem_banks == 0 || !isa::IsVectorLoad(v.op)) return true;
    for (int other : loads_) {
      if (SameBank(v, instrs_[other], model_, registers_)) return false;
    }
    return true;
  }

  // Vector registers that wait for what instruction i asks a unit for.
  int KeptFor(int i) const {
    const Node& node = graph_.nodes[i];
    return KeepsRegisters(node) && !node.is_pop ? node.results : 0;
  }

  bool RegistersFree(int i) {
    if (!safe_) return live_.Fit(instrs_[i]);
    const Node& node = graph_.nodes[i];
    if (KeepsRegisters(node) && node.is_pop) return true;
    const int kept = KeptFor(i);
    return (kept > 0 ? live_.FitResults(instrs_[i], kept)
                     : live_.Fit(instrs_[i])) &&
           safe_->Allows(i);
  }

  bool UnitFree(const Node& node, int cycle) const {
    return node.unit < 0 || unit_free_[node.unit] <= cycle;
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
      const int i = ranks_.instr_of[rank];
      const Node& node = graph_.nodes[i];
      if (UnitFree(node, cycle) && (pipelined_ || fifos_.IsFree(i)) &&
          BanksFree(instrs_[i]) && RegistersFree(i)) {
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
    if (!pipelined_) fifos_.Issue(i);
    live_.Issue(v, cycle + std::max(node.latency, 1));
    if (safe_) {
      live_.Reserve(KeepsRegisters(node) && node.is_pop ? -1 : KeptFor(i));
      safe_->Issue(i);
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
    next = std::min(next, live_.NextLanding());
    for (int free : unit_free_) {
      if (free > cycle) next = std::min(next, free);
    }
    return next;
  }

  absl::Span<const VInstr> instrs_;
  absl::Span<const VRegister> registers_;
  const isa::MachineModel& model_;
  const Graph& graph_;
  const bool pipelined_;
  const IssueRanks ranks_;
  LiveRegisters live_;
  std::optional<SafeOrder> safe_;
  FifoUse fifos_;
  std::vector<int> pending_, earliest_;  // by node
  using Waiting = std::pair<int, int>;   // (cycle, instruction)
  std::vector<Waiting> reached_;         // and joins
  std::priority_queue<Waiting, std::vector<Waiting>, std::greater<>> future_;
  ReadyQueues ready_;
  SlotUse slots_;
  std::vector<int> loads_;  // of the open bundle
  std::vector<int> unit_free_, first_use_;
};

}  // namespace

absl::StatusOr<BlockSchedule> ScheduleBlock(
    absl::Span<const VInstr> instrs, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget,
    BlockMode mode) {
  const Graph free = BuildGraph(instrs, registers, model, mode);
  const LocalReads reads(instrs, registers);
  // `limit`: a schedule of so many cycles is of no use.
  const auto attempt = [&](IssueOrder order, const Graph& graph,
                           int64_t limit = INT64_MAX,
                           int stretch = 100) -> absl::StatusOr<BlockSchedule> {
    ASSIGN_OR_RETURN(BlockSchedule schedule,
                     Scheduler(instrs, registers, reads, model, budget, graph,
                               mode, order, stretch)
                         .Run(limit));
    RETURN_IF_ERROR(
        AllocateRegisters(instrs, registers, reads, model, budget, &schedule));
    return schedule;
  };
  const int64_t bound = SlotBound(instrs, free, model);
  auto best = attempt(IssueOrder::kHeight, free);
  const auto improve = [&](IssueOrder order, int64_t limit = INT64_MAX,
                           int stretch = 100) {
    if (best.ok()) limit = std::min(limit, best->cycles);
    auto other = attempt(order, free, limit, stretch);
    if (!other.ok()) return false;
    best = std::move(other);
    return true;
  };
  // The longest path first; another order where that leaves slots empty or
  // runs out of registers.
  const bool copies =
      mode == BlockMode::kFree && instrs.size() >= kFewInstructions;
  if (copies && (!best.ok() || best->cycles > bound + bound / 8)) {
    improve(IssueOrder::kStaggered);
  }
  const bool starved = !best.ok();
  if (starved && copies) {
    improve(IssueOrder::kLate);
    for (const int stretch : kDueStretches) {
      if (improve(IssueOrder::kDue, INT64_MAX, stretch)) break;
    }
  }
  const bool none_fits = !best.ok();
  if (starved && mode == BlockMode::kFree) improve(IssueOrder::kSafe);
  // Copies that are further apart share the registers with fewer others. (Where
  // even that waits, callers do better with shorter blocks.)
  if (copies && (none_fits || best->cycles > bound * kWaiting)) {
    for (const int stretch : kStretches) {
      if (improve(IssueOrder::kStaggered, bound * kWaitsTooLong, stretch)) {
        break;
      }
    }
  }
  // The order in which the code was written, then that order and nothing else.
  if (none_fits) improve(IssueOrder::kSource);
  if (!best.ok() && mode == BlockMode::kFree) {
    best = attempt(IssueOrder::kSource,
                   BuildGraph(instrs, registers, model, BlockMode::kInOrder));
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
  RETURN_IF_ERROR(AllocateRegisters(block.instrs, registers,
                                    LocalReads(block.instrs, registers), model,
                                    budget, &schedule));
  return schedule;
}

}  // namespace ptxla::codegen
