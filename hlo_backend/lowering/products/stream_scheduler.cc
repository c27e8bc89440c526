#include "hlo_backend/lowering/products/stream_scheduler.h"

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "hlo_backend/lowering/codegen/dependences.h"

namespace ptxla::codegen {
namespace {

using isa::ExecUnit;
using isa::Fifo;
using isa::LatencyKey;
using isa::Opcode;

// Register fields of an instruction that are read.
template <class Fn>
void ForEachRead(const VInstr& v, Fn fn) {
  const FieldClasses& f = FieldsOf(v.op);
  if (f.a >= 0 && v.a != kNone) fn(v.a);
  if (f.b >= 0 && v.b != kNone) fn(v.b);
  if (f.c >= 0 && v.c != kNone) fn(v.c);
  if (f.dst_is_read && v.dst != kNone) fn(v.dst);
  if (v.guard != kNone) fn(v.guard);
}

// Staging register that a matmul latches, or -1.
int LatchOf(const VInstr& v) { return v.c == 1 || v.c == 2 ? v.c - 1 : -1; }

bool WritesRegister(const VInstr& v) {
  const FieldClasses& f = FieldsOf(v.op);
  return f.dst >= 0 && !f.dst_is_read && v.dst != kNone;
}

}  // namespace

int64_t& StreamScheduler::UnitFree(ExecUnit unit, int number) {
  return unit_free_[static_cast<int>(unit) * isa::kMaxUnits + number];
}

std::deque<int64_t>& StreamScheduler::FifoDue(Fifo fifo, int number) {
  if (fifo == Fifo::kMrf) return mxu_[number].due;
  return fifo_due_[static_cast<int>(fifo) * isa::kMaxUnits + number];
}

FifoPairs& StreamScheduler::Pairs(Fifo fifo, int number) {
  return pairs_[static_cast<int>(fifo) * isa::kMaxUnits + number];
}

int64_t& StreamScheduler::LastPop(Fifo fifo, int number) {
  return last_pop_[static_cast<int>(fifo) * isa::kMaxUnits + number];
}

int64_t& StreamScheduler::At(std::vector<int64_t>* cycles, int32_t reg) {
  if (reg >= static_cast<int32_t>(cycles->size())) {
    cycles->resize(std::max<size_t>(builder_.registers().size(), reg + 1));
  }
  return (*cycles)[reg];
}

int64_t StreamScheduler::PushFree(int mxu, int stage) const {
  return std::max(
      mxu_[mxu].stage_free[stage],
      unit_free_[static_cast<int>(ExecUnit::kPush) * isa::kMaxUnits + mxu]);
}

int64_t StreamScheduler::OperandsReady(const VInstr& v) const {
  int64_t at = 0;
  ForEachRead(v, [&](int32_t reg) { at = std::max(at, Of(ready_, reg)); });
  return at;
}

int64_t StreamScheduler::Earliest(const VInstr& v, const isa::InstrInfo& info,
                                  int64_t memory_key) {
  int64_t at = OperandsReady(v);
  if (WritesRegister(v) && builder_.registers()[v.dst].global) {
    // In place: after the last read, and after an earlier write has landed.
    at = std::max({at, Of(last_read_, v.dst), Of(ready_, v.dst)});
  }
  if (info.unit != ExecUnit::kNone) {
    at = std::max(at, UnitFree(info.unit, v.unit));
  }
  if (info.pops != Fifo::kNone) {
    const auto& due = FifoDue(info.pops, v.unit);
    CHECK(!due.empty()) << info.mnemonic << " without a result";
    at = std::max({at, due.front(), LastPop(info.pops, v.unit) + 1,
                   Pairs(info.pops, v.unit).last_pop() + 1});
  }
  if (memory_key >= 0) {
    const auto it = touched_.find(memory_key);
    if (it != touched_.end()) {
      at = std::max(at, it->second.store + 1);
      if (isa::IsVectorStore(v.op)) at = std::max(at, it->second.load);
    }
  }
  MxuState& mxu = mxu_[v.unit];
  if (v.op == Opcode::kVmatprepSubr) {
    at = std::max(at, mxu.last_push + 1);
  } else if (v.op == Opcode::kVmatprepMubr) {
    at = std::max(at, mxu.last_matmul + 1);
  } else if (isa::IsMatpush(v.op)) {
    at = std::max(at, mxu.stage_free[v.c]);
    if (mxu.prep_weights >= 0) at = std::max(at, mxu.prep_weights + 1);
  } else if (isa::IsMatmul(v.op)) {
    const int latch = LatchOf(v);
    if (latch >= 0) at = std::max(at, mxu.latchable[latch]);
    if (mxu.prep_lhs >= 0) at = std::max(at, mxu.prep_lhs + 1);
  }
  return at;
}

// The first cycle in [from, end) with room for `v`; `end`: none.
int64_t StreamScheduler::FirstFit(const VInstr& v, int64_t from, int64_t end) {
  const absl::Span<const VRegister> registers = builder_.registers();
  for (; from < end; ++from) {
    if (bundles_.Fit(from, v, registers)) return from;
  }
  return end;
}

void StreamScheduler::Put(const VInstr& v, int64_t cycle) {
  bundles_.Take(cycle, v);
  placed_.push_back({cycle, v});
}

int64_t StreamScheduler::Place(const VInstr& v, int64_t wish,
                               int64_t memory_key) {
  const isa::Instr shell = Shell(v);
  const isa::InstrInfo& info = isa::Info(v.op);
  const int64_t from =
      std::max({wish, Earliest(v, info, memory_key), int64_t{0}});
  const int64_t at = FirstFit(v, from, std::numeric_limits<int64_t>::max());
  Put(v, at);
  Commit(v, shell, info, at, memory_key);
  return at;
}

FifoPairs::Pair StreamScheduler::PlacePair(const VInstr& push,
                                           const VInstr& pop, int64_t wish) {
  const isa::Instr shell = Shell(push);
  const isa::InstrInfo& info = isa::Info(push.op);
  CHECK(FifoDue(info.pushes, push.unit).empty()) << info.mnemonic;
  CHECK(isa::Info(pop.op).pops == info.pushes && pop.unit == push.unit)
      << info.mnemonic << " with the pop of another FIFO";
  // What was placed before may read or write a global later than this.
  CHECK(!builder_.registers()[pop.dst].global) << info.mnemonic;
  FifoPairs& pairs = Pairs(info.pushes, push.unit);
  const int64_t latency = isa::LatencyOf(shell, model_);
  const int64_t interval = isa::IntervalOf(shell, model_);
  // What Place has placed comes before all pairs that follow.
  const int64_t from = std::max(
      {wish, OperandsReady(push), LastPop(info.pushes, push.unit), int64_t{0}});
  for (int64_t at = from;; ++at) {
    const FifoPairs::Window pops = pairs.PopsOf(at, interval);
    if (pops.empty() || !bundles_.Fit(at, push, builder_.registers())) {
      continue;
    }
    const int64_t popped =
        FirstFit(pop, std::max(pops.first, at + latency), pops.end);
    if (popped >= pops.end) continue;
    pairs.Insert({at, popped});
    int64_t& free = UnitFree(info.unit, push.unit);
    free = std::max(free, at + interval);
    Put(push, at);
    Put(pop, popped);
    NoteReads(push, at);
    const int64_t ready = popped + isa::LatencyOf(Shell(pop), model_);
    At(&ready_, pop.dst) = ready;
    end_ = std::max({end_, ready, at + interval});
    return {at, popped};
  }
}

void StreamScheduler::NoteReads(const VInstr& v, int64_t cycle) {
  ForEachRead(v, [&](int32_t reg) {
    if (builder_.registers()[reg].global) {
      int64_t& last = At(&last_read_, reg);
      last = std::max(last, cycle);
    }
  });
}

void StreamScheduler::Commit(const VInstr& v, const isa::Instr& shell,
                             const isa::InstrInfo& info, int64_t cycle,
                             int64_t memory_key) {
  int64_t landed = cycle + 1;
  NoteReads(v, cycle);
  if (WritesRegister(v)) {
    const int64_t ready = cycle + isa::LatencyOf(shell, model_);
    At(&ready_, v.dst) = ready;
    landed = std::max(landed, ready);
  }
  if (info.unit != ExecUnit::kNone) {
    const int64_t free = cycle + isa::IntervalOf(shell, model_);
    UnitFree(info.unit, v.unit) = free;
    landed = std::max(landed, free);
  }
  if (info.pops != Fifo::kNone) {
    FifoDue(info.pops, v.unit).pop_front();
    LastPop(info.pops, v.unit) = cycle;
  }
  if (info.pushes != Fifo::kNone) {
    const int results = isa::ResultsOf(shell, model_);
    const int spacing = isa::ResultSpacing(shell, model_);
    auto& due = FifoDue(info.pushes, v.unit);
    for (int r = 0; r < results; ++r) {
      due.push_back(cycle + isa::LatencyOf(shell, model_) + r * spacing);
    }
  }
  if (memory_key >= 0) {
    Touched& touched = touched_[memory_key];
    int64_t& last = isa::IsVectorStore(v.op) ? touched.store : touched.load;
    last = std::max(last, cycle);
  }
  MxuState& mxu = mxu_[v.unit];
  if (v.op == Opcode::kVmatprepSubr) {
    mxu.prep_weights = cycle;
  } else if (v.op == Opcode::kVmatprepMubr) {
    mxu.prep_lhs = cycle;
  } else if (isa::IsMatpush(v.op)) {
    mxu.prep_weights = -1;
    mxu.last_push = cycle;
    const LatencyKey key = isa::IsTransposePush(v.op)
                               ? LatencyKey::kPushXposeToLatch
                               : LatencyKey::kPushToLatch;
    mxu.latchable[v.c] = cycle + model_.Latency(key, v.unit);
  } else if (isa::IsMatmul(v.op)) {
    mxu.prep_lhs = -1;
    mxu.last_matmul = cycle;
    mxu.matmul_free = cycle + isa::IntervalOf(shell, model_);
    const int latch = LatchOf(v);
    if (latch >= 0) {
      mxu.stage_free[latch] =
          cycle + model_.Latency(LatencyKey::kLatchToPush, v.unit);
    }
  }
  end_ = std::max(end_, landed);
}

VNode StreamScheduler::Finish(const char* label) {
  // By cycle, those of one cycle as they were placed.
  std::vector<int32_t> next(bundles_.size() + 1, 0);
  for (const Placed& p : placed_) ++next[p.cycle + 1];
  for (size_t c = 1; c < next.size(); ++c) next[c] += next[c - 1];
  VNode block;
  block.label = label;
  block.mode = BlockMode::kPlaced;
  block.length = end_;
  block.instrs.resize(placed_.size());
  block.at.resize(placed_.size());
  for (const Placed& p : placed_) {
    const int32_t k = next[p.cycle]++;
    block.instrs[k] = p.instr;
    block.at[k] = static_cast<int32_t>(p.cycle);
  }
  placed_.clear();
  return block;
}

}  // namespace ptxla::codegen
