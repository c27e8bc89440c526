#include "isa/cycle_causes.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "isa/keys.h"

namespace ptxla::isa {
namespace {

bool TakesSlot(const Instr& instr, Slot slot) {
  return (Info(instr.op).slots & Bit(slot)) != 0;
}

// A slot that holds as many instructions as it can, the main unit's apart.
std::optional<Slot> FullSlot(absl::Span<const Instr> bundle,
                             const MachineModel& m) {
  std::array<int, kNumSlots> uses{};
  for (const Instr& instr : bundle) {
    for (int s = 0; s < kNumSlots; ++s) {
      uses[s] += TakesSlot(instr, static_cast<Slot>(s));
    }
  }
  for (const Slot s : {Slot::kVector, Slot::kLoad, Slot::kStore, Slot::kEup,
                       Slot::kXlu, Slot::kMxu, Slot::kPop, Slot::kMisc}) {
    const int k = static_cast<int>(s);
    if (uses[k] > 0 && uses[k] >= m.slots[k]) return s;
  }
  const int load = uses[static_cast<int>(Slot::kLoad)];
  const int store = uses[static_cast<int>(Slot::kStore)];
  if (load + store > 0 && load + store >= m.load_store_total) {
    return load >= store ? Slot::kLoad : Slot::kStore;
  }
  return std::nullopt;
}

// Of a block, from its first cycle.
struct Extent {
  bool used = false;     // the main unit
  bool vectors = false;  // any unit beside the scalar ones
  int64_t first = 0, end = 0;
};

Extent ExtentOf(const Block& block, const MachineModel& m,
                const MainUnit& main) {
  constexpr SlotMask kScalarSlots = Bit(Slot::kScalar) | Bit(Slot::kDma);
  Extent e;
  int64_t at = 0;
  for (int b = 0; b < block.NumBundles(); ++b) {
    const absl::Span<const Instr> bundle = block.Bundle(b);
    for (const Instr& instr : bundle) {
      e.vectors = e.vectors || (Info(instr.op).slots & ~kScalarSlots) != 0;
      if (!main.Uses(instr)) continue;
      if (!e.used) e.first = at;
      e.used = true;
      e.end = std::max<int64_t>(e.end, at + IntervalOf(instr, m));
    }
    at += BundleCycles(bundle);
  }
  return e;
}

CycleCauses CausesOf(const Block& block, const MachineModel& m,
                     const MainUnit& main) {
  const Extent extent = ExtentOf(block, m, main);
  CycleCauses causes;
  if (!extent.used) {
    causes[extent.vectors ? CycleCause::kOther : CycleCause::kControl] =
        block.Cycles();
    return causes;
  }
  int64_t at = 0, busy_until = 0, push_until = 0;
  for (int b = 0; b < block.NumBundles(); ++b) {
    const absl::Span<const Instr> bundle = block.Bundle(b);
    for (const Instr& instr : bundle) {
      const int64_t until = at + IntervalOf(instr, m);
      if (main.Uses(instr)) busy_until = std::max(busy_until, until);
      if (Info(instr.op).unit == ExecUnit::kPush) {
        push_until = std::max(push_until, until);
      }
    }
    const int64_t end = at + BundleCycles(bundle);
    while (at < end) {
      CycleCause cause = CycleCause::kResults;
      int64_t until = end;
      std::optional<Slot> full;
      if (at < busy_until) {
        cause = CycleCause::kWork;
        until = std::min(end, busy_until);
      } else if (main.unit == ExecUnit::kMatmul && at < push_until) {
        cause = CycleCause::kWeights;
        until = std::min(end, push_until);
      } else if (at < extent.first) {
        cause = CycleCause::kFill;
      } else if (at >= extent.end) {
        cause = CycleCause::kDrain;
      } else if ((full = FullSlot(bundle, m))) {
        cause = CycleCause::kIssue;
        causes.issue[static_cast<int>(*full)] += until - at;
      }
      causes[cause] += until - at;
      at = until;
    }
  }
  return causes;
}

class Walk {
 public:
  Walk(const MachineModel& m, const MainUnit& main, uint32_t flags)
      : m_(m), main_(main), flags_(flags) {}

  // Of one pass over `code`.
  CycleCauses Take(const Code& code, int depth, int64_t times, int64_t trips) {
    CycleCauses sum;
    for (const Node& node : code) {
      if (const Block* block = node.block()) {
        const CycleCauses once = CausesOf(*block, m_, main_);
        parts.push_back({block, depth, times, trips, once});
        sum.Add(once, 1);
      } else if (const When* when = node.when()) {
        if (Holds(*when, flags_)) {
          sum.Add(Take(when->body, depth, times, trips), 1);
        }
      } else if (const Loop* loop = node.loop()) {
        if (loop->trips == 0) continue;
        CycleCauses body =
            Take(loop->body, depth + 1, times * loop->trips, loop->trips);
        const int64_t least = 1 + m_.branch_delay_slots;
        body[CycleCause::kControl] +=
            std::max<int64_t>(0, least - body.Total());
        sum.Add(body, loop->trips);
      }
    }
    return sum;
  }

  std::vector<CodePart> parts;

 private:
  const MachineModel& m_;
  const MainUnit& main_;
  const uint32_t flags_;
};

}  // namespace

bool MainUnit::Uses(const Instr& instr) const {
  return unit == ExecUnit::kNone ? TakesSlot(instr, slot)
                                 : Info(instr.op).unit == unit;
}

int64_t MainUnit::Busy(const Profile& p) const {
  return unit == ExecUnit::kNone ? p.slot_uses[static_cast<int>(slot)]
                                 : p.unit_busy[static_cast<int>(unit)];
}

int MainUnit::Ways(const MachineModel& m) const {
  return std::max(1, unit == ExecUnit::kNone ? m.Slots(slot) : m.Units(unit));
}

std::string MainUnit::Name() const {
  switch (unit) {
    case ExecUnit::kMatmul:
      return "MXU";
    case ExecUnit::kEup:
      return "EUP";
    case ExecUnit::kXlu:
      return "XLU";
    default:
      break;
  }
  switch (slot) {
    case Slot::kLoad:
      return "load slots";
    case Slot::kStore:
      return "store slots";
    case Slot::kScalar:
      return "scalar unit";
    default:
      return "vector ALUs";
  }
}

MainUnit MainUnitOf(const Profile& p, const MachineModel& m) {
  const auto unit = [](ExecUnit u) { return MainUnit{u, Slot::kVector}; };
  const auto slot = [](Slot s) { return MainUnit{ExecUnit::kNone, s}; };
  const MainUnit units[] = {unit(ExecUnit::kMatmul), slot(Slot::kVector),
                            unit(ExecUnit::kEup),    unit(ExecUnit::kXlu),
                            slot(Slot::kLoad),       slot(Slot::kStore)};
  MainUnit main = slot(Slot::kVector);
  double most = 0;
  for (const MainUnit& u : units) {
    double share = static_cast<double>(u.Busy(p)) / u.Ways(m);
    if (u.unit == ExecUnit::kMatmul && share > 0) {
      const MainUnit push = unit(ExecUnit::kPush);
      share = std::max(share, static_cast<double>(push.Busy(p)) / push.Ways(m));
    }
    if (share <= most) continue;
    main = u;
    most = share;
  }
  if (most == 0) main = slot(Slot::kScalar);
  return main;
}

int64_t CycleCauses::Total() const {
  return std::accumulate(cycles.begin(), cycles.end(), int64_t{0});
}

void CycleCauses::Add(const CycleCauses& o, int64_t times) {
  for (int i = 0; i < kNumCauses; ++i) cycles[i] += o.cycles[i] * times;
  for (int s = 0; s < kNumSlots; ++s) issue[s] += o.issue[s] * times;
}

CodeAccount AccountOf(const Code& code, const MachineModel& machine,
                      const MainUnit& main, uint32_t flags) {
  Walk walk(machine, main, flags);
  CodeAccount account;
  account.total = walk.Take(code, 0, 1, 1);
  account.parts = std::move(walk.parts);
  return account;
}

}  // namespace ptxla::isa
