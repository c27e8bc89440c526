#include "hlo_backend/lowering/codegen/bundle_resources.h"

#include "isa/vmem_banks.h"

namespace ptxla::codegen {
namespace {

using isa::Bit;
using isa::Slot;

constexpr isa::SlotMask kMemory =
    Bit(Slot::kMisc) | Bit(Slot::kLoad) | Bit(Slot::kStore);
constexpr isa::SlotMask kAll =
    static_cast<isa::SlotMask>((1u << isa::kNumSlots) - 1);

// Calls fn(slot) for each slot of the mask. Most instructions take one.
template <class Fn>
void ForEachSlot(isa::SlotMask slots, Fn fn) {
  for (uint32_t rest = slots; rest != 0; rest &= rest - 1) {
    fn(__builtin_ctz(rest));
  }
}

}  // namespace

bool SameBank(const VInstr& x, const VInstr& y, const isa::MachineModel& model,
              absl::Span<const VRegister> registers) {
  int64_t distance = int64_t{x.imm} - y.imm;
  if (x.a != y.a) {
    if (x.a == kNone || y.a == kNone) return false;
    const VRegister& rx = registers[x.a];
    const VRegister& ry = registers[y.a];
    // Nothing ties an address in an argument to others; addresses of slots and
    // scratch whose distance varies may meet.
    if (rx.bank_group == kForeignBanks || ry.bank_group == kForeignBanks) {
      return false;
    }
    if (rx.bank_group != ry.bank_group || rx.bank_group == kUnknownBanks) {
      return true;
    }
    distance += rx.bank_offset - ry.bank_offset;
  }
  const int banks = model.vmem_banks;
  return (isa::LoadBanks(x.op, distance, x.imm2, x.c, banks) &
          isa::LoadBanks(y.op, 0, y.imm2, y.c, banks)) != 0;
}

BundleResources::Used BundleResources::Full(Used used) const {
  Fill(&used, kAll);
  return used;
}

void BundleResources::Fill(Used* used, isa::SlotMask taken) const {
  used->no_more = model_.bundle_width > 0 && used->size >= model_.bundle_width;
  ForEachSlot(taken, [&](int s) {
    if (used->slots[s] >= model_.slots[s]) used->full |= isa::SlotMask{1} << s;
  });
  if ((taken & kMemory) == 0) return;
  if (used->memory >= model_.load_store_total) used->full |= kMemory;
  // Misc instructions count as a load and as a store too.
  const int misc = used->slots[static_cast<int>(Slot::kMisc)];
  for (const Slot slot : {Slot::kLoad, Slot::kStore}) {
    if (used->slots[static_cast<int>(slot)] + misc >= model_.Slots(slot)) {
      used->full |= Bit(slot) | Bit(Slot::kMisc);
    }
  }
}

bool BundleResources::BanksFree(const Used& used, const VInstr& v,
                                absl::Span<const VRegister> registers) const {
  if (model_.vmem_banks == 0) return true;
  for (int32_t l = used.first_load; l >= 0; l = loads_[l].next) {
    const Load& load = loads_[l];
    VInstr other;
    other.op = load.op;
    other.a = load.a;
    other.c = load.c;
    other.imm = load.imm;
    other.imm2 = load.imm2;
    if (SameBank(v, other, model_, registers)) return false;
  }
  return true;
}

void BundleResources::Take(int64_t cycle, const VInstr& v) {
  if (static_cast<size_t>(cycle) >= used_.size()) {
    used_.resize(cycle + 1, none_);
  }
  Used& used = used_[cycle];
  const isa::SlotMask slots = isa::Info(v.op).slots;
  ++used.size;
  ForEachSlot(slots, [&](int s) { ++used.slots[s]; });
  if (slots & kMemory) ++used.memory;
  Fill(&used, slots);
  if (isa::IsVectorLoad(v.op)) {
    loads_.push_back({v.op, v.a, v.c, v.imm, v.imm2, used.first_load});
    used.first_load = static_cast<int32_t>(loads_.size()) - 1;
  }
}

}  // namespace ptxla::codegen
