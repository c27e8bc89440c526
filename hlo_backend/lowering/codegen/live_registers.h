// How many registers of each class are taken while a block is scheduled: from
// the write of a value to its last read, or, where nobody reads it, until the
// write has landed, as AllocateRegisters has it.
//
//   const LocalReads reads(instrs, registers);
//   LiveRegisters live(reads, registers, budget);
//   live.Land(cycle);
//   if (live.Fit(v)) live.Issue(v, cycle + latency);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LIVE_REGISTERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LIVE_REGISTERS_H_

#include <algorithm>
#include <array>
#include <cstdint>
#include <functional>
#include <queue>
#include <utility>
#include <vector>

#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/local_reads.h"
#include "hlo_backend/lowering/codegen/local_registers.h"
#include "hlo_backend/lowering/codegen/schedule.h"

namespace ptxla::codegen {

class LiveRegisters {
 public:
  LiveRegisters(const LocalReads& reads, absl::Span<const VRegister> registers,
                const RegisterBudget& budget)
      : locals_(registers), first_(reads.range.first), reads_(reads.count) {
    for (int c = 0; c < isa::kNumRegClasses; ++c) {
      limit_[c] = static_cast<int>(budget.free[c].size());
    }
  }

  int limit(isa::RegClass cls) const { return limit_[static_cast<int>(cls)]; }

  // Is there a register for what the instruction writes, perhaps one that it
  // reads last?
  bool Fit(const VInstr& v) {
    if (!locals_.Writes(v)) return true;
    const int cls = FieldsOf(v.op).dst;
    return live_[cls] < limit_[cls] || Freed(v, cls) > 0;
  }

  // Are there vector registers for `results` that a unit will give?
  bool FitResults(const VInstr& v, int results) {
    constexpr int kVector = static_cast<int>(isa::RegClass::kVector);
    return live_[kVector] + results - Freed(v, kVector) <= limit_[kVector];
  }
  // Vector registers for what a unit will give.
  void Reserve(int results) {
    live_[static_cast<int>(isa::RegClass::kVector)] += results;
  }

  // `lands`: the cycle at which its result is written.
  void Issue(const VInstr& v, int lands) {
    locals_.ForEachRead(v, [&](int32_t reg) {
      if (--Reads(reg) == 0) --live_[locals_.ClassOf(reg)];
    });
    if (!locals_.Writes(v)) return;
    const int cls = FieldsOf(v.op).dst;
    ++live_[cls];
    if (Reads(v.dst) == 0) unread_.push({lands, cls});
  }

  // What nobody reads and has landed by `cycle` is free.
  void Land(int cycle) {
    while (!unread_.empty() && unread_.top().first <= cycle) {
      --live_[unread_.top().second];
      unread_.pop();
    }
  }
  // The next cycle at which Land() frees a register; INT32_MAX: none.
  int NextLanding() const {
    return unread_.empty() ? INT32_MAX : unread_.top().first;
  }

 private:
  int& Reads(int32_t reg) { return reads_[reg - first_]; }

  // Registers of a class that the instruction reads last.
  int Freed(const VInstr& v, int cls) {
    int freed = 0;
    ForEachLastRead(locals_, v, first_, reads_, [&](int32_t reg) {
      if (locals_.ClassOf(reg) == cls) ++freed;
    });
    return freed;
  }

  const LocalRegisters locals_;
  const int32_t first_;
  std::vector<int> reads_;  // still to come, from register first_ on
  std::array<int, isa::kNumRegClasses> limit_{};
  std::array<int, isa::kNumRegClasses> live_{};
  using Landing = std::pair<int, int>;  // (cycle, class)
  std::priority_queue<Landing, std::vector<Landing>, std::greater<>> unread_;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_LIVE_REGISTERS_H_
