#include "isa/bank_tracker.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "isa/asm.h"
#include "isa/vmem_banks.h"

namespace ptxla::isa {

BankTracker::BankTracker(const Kernel& kernel, const MachineModel& machine)
    : kernel_(kernel), banks_(machine.vmem_banks) {
  for (Value& value : state_) value = Fresh();
}

int64_t BankTracker::Mod(int64_t value) const {
  const int64_t cycle = int64_t{banks_} * kRowBytes;
  if (cycle == 0) return 0;
  return ((value % cycle) + cycle) % cycle;
}

// Relative to the load's symbol.
uint64_t BankTracker::BanksOf(const Instr& load) const {
  const int64_t base = load.a == kNoReg ? 0 : state_[load.a].bytes;
  return LoadBanks(load.op, base + load.imm, load.imm2, load.c, banks_);
}

absl::Status BankTracker::CheckLoads(absl::Span<const Instr> bundle) const {
  if (banks_ == 0) return absl::OkStatus();
  for (int i = 0; i < bundle.size(); ++i) {
    if (!IsVectorLoad(bundle[i].op)) continue;
    const auto symbol = [&](const Instr& load) {
      return load.a == kNoReg ? 0 : state_[load.a].symbol;
    };
    for (int j = 0; j < i; ++j) {
      if (!IsVectorLoad(bundle[j].op) ||
          symbol(bundle[i]) != symbol(bundle[j])) {
        continue;
      }
      if ((BanksOf(bundle[i]) & BanksOf(bundle[j])) != 0) {
        return absl::InternalError(absl::StrCat("`", Print(bundle[j]),
                                                "` and `", Print(bundle[i]),
                                                "` touch the same VMEM bank"));
      }
    }
  }
  return absl::OkStatus();
}

int32_t BankTracker::Symbol(Opcode op, int64_t a, int64_t b) {
  int32_t& symbol = symbols_[{static_cast<int64_t>(op), a, b}];
  if (symbol == 0) symbol = ++last_symbol_;
  return symbol;
}

BankTracker::Value BankTracker::Sum(const Value& a, const Value& b) {
  const int64_t bytes = Mod(a.bytes + b.bytes);
  if (a.symbol == 0 || b.symbol == 0) return {a.symbol + b.symbol, bytes};
  return {Symbol(Opcode::kSadd, std::min(a.symbol, b.symbol),
                 std::max(a.symbol, b.symbol)),
          bytes};
}

BankTracker::Value BankTracker::ValueAfter(const Instr& i) {
  if (i.guard != 0) return Fresh();
  const auto first = [&] { return state_[i.a]; };
  const Value second = i.b == kNoReg ? Known(i.imm) : state_[i.b & 63];
  switch (i.op) {
    case Opcode::kSmov:
      return second;
    case Opcode::kSadd:
      return Sum(first(), second);
    case Opcode::kSsub:
      if (second.symbol != 0) return Fresh();
      return Sum(first(), Known(-second.bytes));
    case Opcode::kSmul:
    case Opcode::kSshll: {
      if (i.b != kNoReg) return Fresh();
      if (i.op == Opcode::kSshll && (i.imm < 0 || i.imm > 31)) return Known(0);
      const int64_t factor =
          i.op == Opcode::kSmul ? i.imm : int64_t{1} << i.imm;
      // A multiple of the whole cycle is 0 whatever the register holds.
      if (Mod(factor) == 0) return Known(0);
      const Value a = first();
      return {a.symbol == 0 ? 0 : Symbol(Opcode::kSmul, a.symbol, factor),
              Mod(a.bytes * factor)};
    }
    case Opcode::kSscratch:
      return Known(kernel_.scratch_offset + i.imm);
    case Opcode::kSwin: {
      const Window& w = kernel_.windows[i.imm];
      const Value some = {Symbol(i.op, i.imm), 0};
      if (IsResident(kernel_, w)) {
        const auto offset = ResidentBankOffset(w, int64_t{banks_} * kRowBytes);
        return offset.has_value() ? Known(*offset) : some;
      }
      const bool moves = w.slots > 1 && Mod(w.slot_bytes) != 0;
      return moves ? some : Known(w.vmem_offset);
    }
    case Opcode::kSarg:
      return Known(0);
    case Opcode::kSgrid:
      return {Symbol(i.op, i.imm), 0};
    default:
      return Fresh();
  }
}

void BankTracker::Apply(absl::Span<const Instr> bundle) {
  if (banks_ == 0) return;
  State next = state_;
  for (const Instr& i : bundle) {
    const RegUses uses = UsesOf(i);
    if (uses.has_write && uses.write.cls == RegClass::kScalar) {
      next[uses.write.index & 63] = ValueAfter(i);
    }
  }
  state_ = next;
}

}  // namespace ptxla::isa
