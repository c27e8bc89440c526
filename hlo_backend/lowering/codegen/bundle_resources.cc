#include "hlo_backend/lowering/codegen/bundle_resources.h"

#include "isa/vmem_banks.h"

namespace ptxla::codegen {
namespace {

using isa::Bit;
using isa::Slot;

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

bool BundleResources::SlotsFit(isa::SlotMask slots,
                               const isa::MachineModel& model) const {
  if (model.bundle_width > 0 && size_ >= model.bundle_width) return false;
  for (int s = 0; s < isa::kNumSlots; ++s) {
    if ((slots >> s & 1) && used_[s] >= model.slots[s]) return false;
  }
  const bool misc = slots & Bit(Slot::kMisc);
  const bool load = slots & Bit(Slot::kLoad);
  const bool store = slots & Bit(Slot::kStore);
  if ((misc || load || store) && memory_ >= model.load_store_total) {
    return false;
  }
  // Misc instructions count as a load and as a store too.
  const int misc_used = used_[static_cast<int>(Slot::kMisc)];
  const auto full = [&](Slot slot) {
    return used_[static_cast<int>(slot)] + misc_used >= model.Slots(slot);
  };
  return !((misc || load) && full(Slot::kLoad)) &&
         !((misc || store) && full(Slot::kStore));
}

bool BundleResources::Fits(const VInstr& v, const isa::MachineModel& model,
                           absl::Span<const VRegister> registers) const {
  if (!SlotsFit(isa::Info(v.op).slots, model)) return false;
  if (model.vmem_banks == 0 || !isa::IsVectorLoad(v.op)) return true;
  for (const Load& load : loads_) {
    VInstr other;
    other.op = load.op;
    other.a = load.a;
    other.c = load.c;
    other.imm = load.imm;
    other.imm2 = load.imm2;
    if (SameBank(v, other, model, registers)) return false;
  }
  return true;
}

void BundleResources::Take(const VInstr& v) {
  const isa::SlotMask slots = isa::Info(v.op).slots;
  ++size_;
  for (int s = 0; s < isa::kNumSlots; ++s) {
    if (slots >> s & 1) ++used_[s];
  }
  if (slots & (Bit(Slot::kLoad) | Bit(Slot::kStore) | Bit(Slot::kMisc))) {
    ++memory_;
  }
  if (isa::IsVectorLoad(v.op)) {
    loads_.push_back({v.op, v.a, v.c, v.imm, v.imm2});
  }
}

}  // namespace ptxla::codegen
