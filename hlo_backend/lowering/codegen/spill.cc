#include "hlo_backend/lowering/codegen/spill.h"

#include <algorithm>
#include <map>
#include <utility>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/status.h"
#include "hlo_backend/lowering/codegen/recompute.h"
#include "hlo_backend/lowering/codegen/spill_code.h"

namespace ptxla::codegen {
namespace {

using isa::RegClass;

// Belady's choice for the locals of one class, in the written order.
class LocalSpiller {
 public:
  LocalSpiller(RegClass cls, int limit, const SpillArea& area, SpilledBlock* s)
      : cls_(cls),
        limit_(limit),
        s_(*s),
        instrs_(std::move(s->block.instrs)),
        recompute_(instrs_, s->registers, cls),
        code_(area, &out_, s) {
    next_slot_ = std::max(area.slots, s->use.slots);
  }

  absl::Status Run() {
    FindUses();
    for (now_ = 0; now_ < static_cast<int>(instrs_.size()); ++now_) {
      RETURN_IF_ERROR(Step(instrs_[now_]));
    }
    code_.Finish();
    s_.block.instrs = std::move(out_);
    return absl::OkStatus();
  }

 private:
  struct Local {
    std::vector<int> uses;  // instruction numbers, ascending
    size_t used = 0;
    int32_t now = kNone;  // register that holds it; kNone: none
    int slot = -1;        // where it is stored too
    int next() const { return used < uses.size() ? uses[used] : -1; }
  };

  bool Mine(RegClass cls, int32_t reg) const {
    return cls == cls_ && !s_.registers[reg].global;
  }

  void FindUses() {
    for (int i = 0; i < static_cast<int>(instrs_.size()); ++i) {
      ForEachRead(instrs_[i], [&](RegClass cls, int32_t reg) {
        if (!Mine(cls, reg)) return;
        std::vector<int>& uses = locals_[reg].uses;
        if (uses.empty() || uses.back() != i) uses.push_back(i);
      });
    }
  }

  absl::Status Step(VInstr v) {
    std::vector<int32_t> operands;
    ForEachRead(v, [&](RegClass cls, int32_t reg) {
      if (Mine(cls, reg) &&
          std::find(operands.begin(), operands.end(), reg) == operands.end()) {
        operands.push_back(reg);
      }
    });
    for (int32_t reg : operands) {
      if (locals_[reg].now != kNone) continue;
      RETURN_IF_ERROR(MakeRoom(operands));
      Fill(reg);
    }
    ForEachRead(v, [&](RegClass cls, int32_t& reg) {
      if (Mine(cls, reg)) reg = locals_[reg].now;
    });
    for (int32_t reg : operands) {
      Local& local = locals_[reg];
      ++local.used;
      if (local.next() < 0) Forget(reg);
    }
    const int32_t* dst = WrittenBy(v);
    if (dst != nullptr && Mine(s_.registers[*dst].cls, *dst)) {
      RETURN_IF_ERROR(MakeRoom({}));
      const auto it = locals_.find(*dst);
      if (it != locals_.end()) {
        it->second.now = *dst;
        resident_.push_back(*dst);
      }
    }
    out_.push_back(v);
    return absl::OkStatus();
  }

  void Forget(int32_t reg) {
    Local& local = locals_[reg];
    local.now = kNone;
    resident_.erase(std::find(resident_.begin(), resident_.end(), reg));
    if (local.slot >= 0) free_slots_.push_back(local.slot);
  }

  absl::Status MakeRoom(const std::vector<int32_t>& keep) {
    if (static_cast<int>(resident_.size()) < limit_) return absl::OkStatus();
    int32_t victim = kNone;
    int64_t best = -1;
    for (int32_t reg : resident_) {
      if (std::find(keep.begin(), keep.end(), reg) != keep.end()) continue;
      const Local& local = locals_[reg];
      // A value that needs no store is cheaper to lose.
      const bool cheap = local.slot >= 0 || recompute_.Can(reg, local.next());
      const int64_t gain = int64_t{local.next() - now_ + 1} * (cheap ? 2 : 1);
      if (gain > best) {
        best = gain;
        victim = reg;
      }
    }
    if (victim == kNone) {
      return absl::ResourceExhaustedError(absl::StrCat(
          "one instruction needs more than ", limit_, " registers"));
    }
    Evict(victim);
    return absl::OkStatus();
  }

  void Evict(int32_t reg) {
    Local& local = locals_[reg];
    if (local.slot < 0 && !recompute_.Can(reg, local.next())) {
      local.slot = NewSlot();
      code_.Store(cls_, local.now, local.slot);
    }
    local.now = kNone;
    resident_.erase(std::find(resident_.begin(), resident_.end(), reg));
  }

  int NewSlot() {
    if (free_slots_.empty()) return next_slot_++;
    const int slot = free_slots_.front();
    free_slots_.erase(free_slots_.begin());
    return slot;
  }

  void Fill(int32_t reg) {
    Local& local = locals_[reg];
    if (local.slot >= 0) {
      local.now = code_.Load(cls_, local.slot);
    } else {
      local.now = Recompute(reg);
    }
    resident_.push_back(reg);
  }

  int32_t Recompute(int32_t reg) {
    VInstr again = recompute_.Definition(reg);
    ForEachRead(again, [&](RegClass cls, int32_t& operand) {
      if (Mine(cls, operand)) operand = Recompute(operand);
    });
    again.dst = code_.NewLocal(cls_);
    out_.push_back(again);
    ++s_.use.recomputed;
    return again.dst;
  }

  const RegClass cls_;
  const int limit_;
  SpilledBlock& s_;
  std::vector<VInstr> instrs_, out_;
  Recomputation recompute_;
  SpillCode code_;
  std::map<int32_t, Local> locals_;
  std::vector<int32_t> resident_;
  std::vector<int> free_slots_;
  int next_slot_ = 0;
  int now_ = 0;
};

}  // namespace

bool UsesMemoryGlobals(const VNode& block, const Code& code) {
  bool uses = false;
  for (VInstr v : block.instrs) {
    ForEachRead(v, [&](RegClass, int32_t reg) {
      uses = uses || code.registers[reg].slot >= 0;
    });
    const int32_t* dst = WrittenBy(v);
    uses = uses || (dst != nullptr && code.registers[*dst].slot >= 0);
    if (uses) return true;
  }
  return false;
}

SpilledBlock WithMemoryGlobals(const VNode& block, const Code& code) {
  SpilledBlock s;
  s.block = block;
  s.registers = code.registers;
  s.use.slots = code.spill.slots;
  std::vector<VInstr> out;
  SpillCode spill(code.spill, &out, &s);
  std::map<int32_t, int32_t> now;  // global -> local that holds it
  std::vector<int32_t> written;    // in the order of their first write
  for (VInstr v : block.instrs) {
    ForEachRead(v, [&](RegClass cls, int32_t& reg) {
      const int slot = s.registers[reg].slot;
      if (slot < 0) return;
      const auto [it, first] = now.insert({reg, kNone});
      if (first) it->second = spill.Load(cls, slot);
      reg = it->second;
    });
    int32_t* dst = WrittenBy(v);
    if (dst != nullptr && s.registers[*dst].slot >= 0) {
      CHECK(v.guard == kNone) << "a guarded write of a global in memory";
      if (std::find(written.begin(), written.end(), *dst) == written.end()) {
        written.push_back(*dst);
      }
      const int32_t local = spill.NewLocal(s.registers[*dst].cls);
      now[*dst] = local;
      *dst = local;
    }
    out.push_back(v);
  }
  for (int32_t reg : written) {
    spill.Store(s.registers[reg].cls, now[reg], s.registers[reg].slot);
  }
  spill.Finish();
  s.block.instrs = std::move(out);
  return s;
}

absl::StatusOr<SpilledBlock> SpillLocals(
    SpilledBlock s, const SpillArea& area,
    const std::array<int, isa::kNumRegClasses>& limit) {
  // Masks first: on their way to memory they are words in vector registers.
  for (RegClass cls : {RegClass::kMask, RegClass::kVector}) {
    RETURN_IF_ERROR(
        LocalSpiller(cls, limit[static_cast<int>(cls)], area, &s).Run());
  }
  return s;
}

}  // namespace ptxla::codegen
