#include "isa/from_chip_spec.h"

#include <algorithm>

#include "absl/strings/str_cat.h"

namespace ptxla::isa {
namespace {

void ReadLatencies(const chips::ChipSpec& chip, MachineModel* m) {
  for (int k = 0; k < kNumLatencies; ++k) {
    const LatencyKey key = static_cast<LatencyKey>(k);
    if (key == LatencyKey::kNone || key == LatencyKey::kFixed1) {
      m->SetLatency(key, 1);
      continue;
    }
    m->SetLatency(key, chip.Latency(Name(key)).value_or(0));
    // A unit with a latency of its own: "xlu_rotate.2".
    for (int u = 0; u < kMaxUnits; ++u) {
      const auto own = chip.Latency(absl::StrCat(Name(key), ".", u));
      if (own.has_value()) m->SetLatency(key, u, *own);
    }
  }
}

}  // namespace

MachineModel FromChipSpec(const chips::ChipSpec& chip) {
  MachineModel m;
  const chips::CoreSpec& core = chip.core();
  m.name = chip.name();
  m.clock = core.clock.frequency();
  m.cores = core.cores_in_use;
  m.vregs = std::min(core.vregs, 64);
  m.sregs = core.sregs;
  m.masks = core.mask_regs;
  m.predicates = core.pregs;
  m.mxus = core.mxus;
  m.mxu_rows = core.mxu_rows;
  m.mxu_cols = core.mxu_cols;
  m.staging = core.mxu_staging_registers;
  m.branch_delay_slots = core.branch_delay_slots;

  const chips::SlotSpec& slots = chip.slots();
  m.xlus = slots.xlu;  // one slot per unit
  m.SetSlots(Slot::kScalar, slots.salu);
  m.SetSlots(Slot::kVector, slots.valu);
  m.SetSlots(Slot::kEup, slots.eup);
  m.SetSlots(Slot::kXlu, slots.xlu);
  m.SetSlots(Slot::kLoad, slots.vload);
  m.SetSlots(Slot::kStore, slots.vstore);
  m.SetSlots(Slot::kMxu, slots.mxu);
  m.SetSlots(Slot::kPop, slots.vpop);
  m.SetSlots(Slot::kMisc, slots.misc);
  m.SetSlots(Slot::kDma, 1);  // one DMA request per cycle
  m.load_store_total = slots.load_store;
  m.bundle_width = slots.bundle;

  ReadLatencies(chip, &m);
  for (int k = 0; k < kNumIntervals; ++k) {
    const IntervalKey key = static_cast<IntervalKey>(k);
    m.SetInterval(key, key == IntervalKey::kOne
                           ? 1
                           : chip.Interval(Name(key)).value_or(0));
  }
  for (int k = 0; k < kNumFifos; ++k) {
    const Fifo key = static_cast<Fifo>(k);
    const chips::Parameter* p = chip.Find(absl::StrCat("fifo.", Name(key)));
    m.SetFifoDepth(key, p == nullptr ? 0 : static_cast<int>(p->value));
  }
  // Loads reach CMEM as they reach VMEM: it is the address space behind it.
  m.vmem_bytes = (chip.vmem().usable + chip.cmem()).count();
  m.smem_bytes = chip.smem().count();
  m.vmem_banks = static_cast<int>(
      chip.vmem().banks * chip.vmem().bank_interleave.count() / kRowBytes);
  return m;
}

}  // namespace ptxla::isa
