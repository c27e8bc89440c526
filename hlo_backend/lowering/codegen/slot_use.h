// The slots of one bundle as the scheduler fills it: which of them take no
// more instructions.
//
//   SlotUse slots(model);
//   slots.Open();
//   if (!(isa::Info(op).slots & slots.full())) slots.Take(isa::Info(op).slots);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SLOT_USE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SLOT_USE_H_

#include <array>

#include "isa/instruction.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

class SlotUse {
 public:
  explicit SlotUse(const isa::MachineModel& model) : model_(model) {}

  // An empty bundle.
  void Open() {
    used_.fill(0);
    memory_used_ = issued_ = 0;
    FindFull();
  }

  // An instruction that takes these slots goes into the bundle.
  void Take(isa::SlotMask slots) {
    ++issued_;
    for (int s = 0; s < isa::kNumSlots; ++s) used_[s] += slots >> s & 1;
    if (slots & (kMisc | kLoad | kStore)) ++memory_used_;
    FindFull();
  }

  isa::SlotMask full() const { return full_; }

 private:
  static constexpr isa::SlotMask kMisc = isa::Bit(isa::Slot::kMisc);
  static constexpr isa::SlotMask kLoad = isa::Bit(isa::Slot::kLoad);
  static constexpr isa::SlotMask kStore = isa::Bit(isa::Slot::kStore);

  int Used(isa::Slot slot) const { return used_[static_cast<int>(slot)]; }

  void FindFull() {
    full_ = 0;
    if (model_.bundle_width > 0 && issued_ >= model_.bundle_width) {
      full_ = static_cast<isa::SlotMask>(~isa::SlotMask{0});
      return;
    }
    for (int s = 0; s < isa::kNumSlots; ++s) {
      if (used_[s] >= model_.slots[s]) full_ |= isa::SlotMask{1} << s;
    }
    if (memory_used_ >= model_.load_store_total) {
      full_ |= kMisc | kLoad | kStore;
    }
    // Misc instructions count as a load and as a store too.
    const int misc = Used(isa::Slot::kMisc);
    if (Used(isa::Slot::kLoad) + misc >=
        model_.slots[static_cast<int>(isa::Slot::kLoad)]) {
      full_ |= kMisc | kLoad;
    }
    if (Used(isa::Slot::kStore) + misc >=
        model_.slots[static_cast<int>(isa::Slot::kStore)]) {
      full_ |= kMisc | kStore;
    }
  }

  const isa::MachineModel& model_;
  std::array<int, isa::kNumSlots> used_{};
  int memory_used_ = 0, issued_ = 0;
  isa::SlotMask full_ = 0;
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SLOT_USE_H_
