#include "isa/timing.h"

#include <algorithm>
#include <optional>

#include "base/check.h"

namespace ptxla::isa {
namespace {

std::optional<DmaEvent> EventOf(const Instr& i) {
  using Kind = DmaEvent::Kind;
  switch (i.op) {
    case Opcode::kDmaStart:
      return DmaEvent{Kind::kStart, i.imm};
    case Opcode::kDmaWait:
      return DmaEvent{Kind::kWait, i.imm};
    case Opcode::kDmaStartDesc:
      return DmaEvent{Kind::kStartDescriptor, i.imm};
    case Opcode::kDmaDoneWait:
      return DmaEvent{Kind::kWaitSemaphore, i.imm, i.imm2};
    case Opcode::kSemAdd:
      return DmaEvent{Kind::kSignal, i.imm, i.imm2};
    default:
      return std::nullopt;
  }
}

void AddWork(const Profile& from, int64_t times, Profile* to) {
  to->bundles += times * from.bundles;
  for (int s = 0; s < kNumSlots; ++s) {
    to->slot_uses[s] += times * from.slot_uses[s];
  }
  for (int u = 0; u < kNumUnits; ++u) {
    to->unit_busy[u] += times * from.unit_busy[u];
  }
}

void AddBlock(const Block& block, const MachineModel& m, Profile* p) {
  for (int b = 0; b < block.NumBundles(); ++b) {
    const absl::Span<const Instr> bundle = block.Bundle(b);
    bool empty = true;
    for (const Instr& instr : bundle) {
      const InstrInfo& info = Info(instr.op);
      empty = empty && instr.op == Opcode::kNop;
      for (int s = 0; s < kNumSlots; ++s)
        p->slot_uses[s] += info.slots >> s & 1;
      if (info.unit != ExecUnit::kNone) {
        p->unit_busy[static_cast<int>(info.unit)] += IntervalOf(instr, m);
      }
      if ((info.slots & Bit(Slot::kDma)) != 0) {
        p->events.push_back({p->cycles, *EventOf(instr), 1, 0, {}});
      }
    }
    p->bundles += empty ? 0 : 1;
    p->cycles += BundleCycles(bundle);
  }
}

void AddCode(const Code& code, const MachineModel& m, uint32_t flags,
             Profile* p) {
  for (const Node& node : code) {
    if (const Block* block = node.block()) {
      AddBlock(*block, m, p);
    } else if (const When* when = node.when()) {
      if (Holds(*when, flags)) AddCode(when->body, m, flags, p);
    } else if (const Loop* loop = node.loop()) {
      if (loop->trips == 0) continue;
      Profile body = ProfileCode(loop->body, m, flags);
      const int64_t period =
          std::max<int64_t>(body.cycles, 1 + m.branch_delay_slots);
      AddWork(body, loop->trips, p);
      if (!body.events.empty()) {
        TimedEvent repeat;
        repeat.offset = p->cycles;
        repeat.trips = loop->trips;
        repeat.period = period;
        repeat.body = std::move(body.events);
        p->events.push_back(std::move(repeat));
      }
      p->cycles += loop->trips * period;
    }
  }
}

// ProfileCode(...).cycles.
int64_t CyclesOf(const Code& code, const MachineModel& m, uint32_t flags) {
  int64_t cycles = 0;
  for (const Node& node : code) {
    if (const Block* block = node.block()) {
      cycles += block->Cycles();
    } else if (const When* when = node.when()) {
      if (Holds(*when, flags)) cycles += CyclesOf(when->body, m, flags);
    } else if (const Loop* loop = node.loop()) {
      if (loop->trips == 0) continue;
      cycles += loop->trips * std::max<int64_t>(CyclesOf(loop->body, m, flags),
                                                1 + m.branch_delay_slots);
    }
  }
  return cycles;
}

void Visit(const std::vector<TimedEvent>& events, int64_t base,
           const std::function<void(int64_t, const DmaEvent&)>& fn) {
  for (const TimedEvent& e : events) {
    if (e.body.empty()) {
      fn(base + e.offset, e.event);
      continue;
    }
    for (int64_t i = 0; i < e.trips; ++i) {
      Visit(e.body, base + e.offset + i * e.period, fn);
    }
  }
}

// The flags that When nodes of `code` ask for.
uint32_t FlagsUsed(const Code& code) {
  uint32_t mask = 0;
  for (const Node& node : code) {
    if (const Loop* loop = node.loop()) mask |= FlagsUsed(loop->body);
    if (const When* when = node.when()) {
      // The verifier's business.
      if (when->dim < 0 || when->dim > kCoreShare) continue;
      const bool first = when->kind == When::Kind::kFirst ||
                         when->kind == When::Kind::kNotFirst;
      mask |= 1u << (2 * when->dim + (first ? 0 : 1));
      mask |= FlagsUsed(when->body);
    }
  }
  return mask;
}

// Flags of index i of a dimension of n, as two bits.
uint32_t DimFlags(int64_t i, int64_t n) {
  return (i == 0 ? 1u : 0u) | (i == n - 1 ? 2u : 0u);
}

// The indices [begin, end) that a core has of grid dimension d.
struct CoreIndices {
  const Kernel& kernel;
  int d;
  int64_t begin, end;

  bool Shared() const { return d == kernel.megacore_dim; }
  // The bits that tell anything of d.
  uint32_t Bits() const {
    return 3u << (2 * d) | (Shared() ? 3u << (2 * kCoreShare) : 0);
  }
  uint32_t FlagsOf(int64_t i) const {
    uint32_t flags = DimFlags(i, kernel.grid[d]) << (2 * d);
    if (Shared()) flags |= DimFlags(i - begin, end - begin) << (2 * kCoreShare);
    return flags;
  }
};

// The shares of grid dimension d, of two cores if the code asks for them.
std::vector<CoreIndices> SharesOf(const Kernel& kernel, int d, uint32_t mask) {
  const int64_t n = kernel.grid[d];
  const bool asked = (mask >> (2 * kCoreShare)) != 0;
  if (!asked || d != kernel.megacore_dim || n < 2) return {{kernel, d, 0, n}};
  return {{kernel, d, 0, n / 2}, {kernel, d, n / 2, n}};
}

// Distinct masked flag sets of the whole grid.
std::vector<uint32_t> FlagSets(const Kernel& kernel, uint32_t mask) {
  std::vector<uint32_t> sets = {0};
  for (int d = 0; d < kernel.grid.size(); ++d) {
    std::vector<uint32_t> wider;
    for (const CoreIndices& share : SharesOf(kernel, d, mask)) {
      const int64_t last = share.end - 1;
      for (int64_t i :
           {share.begin, std::min<int64_t>(share.begin + 1, last), last}) {
        const uint32_t bits = share.FlagsOf(i) & mask;
        for (uint32_t set : sets) wider.push_back(set | bits);
      }
    }
    std::sort(wider.begin(), wider.end());
    wider.erase(std::unique(wider.begin(), wider.end()), wider.end());
    sets = std::move(wider);
  }
  return sets;
}

}  // namespace

bool Holds(const When& when, uint32_t flags) {
  const bool first = (flags >> (2 * when.dim) & 1) != 0;
  const bool last = (flags >> (2 * when.dim + 1) & 1) != 0;
  switch (when.kind) {
    case When::Kind::kFirst:
      return first;
    case When::Kind::kNotFirst:
      return !first;
    case When::Kind::kLast:
      return last;
    case When::Kind::kNotLast:
      return !last;
  }
  return false;
}

void ForEachEvent(const std::vector<TimedEvent>& events,
                  const std::function<void(int64_t, const DmaEvent&)>& fn) {
  Visit(events, 0, fn);
}

Profile ProfileCode(const Code& code, const MachineModel& machine,
                    uint32_t flags) {
  Profile profile;
  AddCode(code, machine, flags, &profile);
  return profile;
}

uint32_t StepFlags(const GridWalk& walk) {
  uint32_t flags = 0;
  for (int d = 0; d < walk.index().size(); ++d) {
    flags |= (walk.First(d) ? 1u : 0u) << (2 * d);
    flags |= (walk.Last(d) ? 2u : 0u) << (2 * d);
  }
  if (walk.IsShared()) {
    flags |= (walk.First(kCoreShare) ? 1u : 0u) << (2 * kCoreShare);
    flags |= (walk.Last(kCoreShare) ? 2u : 0u) << (2 * kCoreShare);
  }
  return flags;
}

int KernelTiming::ClassOf(uint32_t flags) const {
  flags &= flag_mask;
  for (int i = 0; i < classes.size(); ++i) {
    if (classes[i].flags == flags) return i;
  }
  CHECK(false) << "flags " << flags << " do not arise in this grid";
  return 0;
}

int64_t KernelTiming::UnstalledCycles(const Kernel& kernel, int core,
                                      int cores) const {
  if (GridWalk(kernel, core, cores).num_steps() == 0) return 0;
  int64_t cycles = entry.cycles + exit.cycles;
  const std::vector<int64_t> steps = StepsPerClass(kernel, core, cores);
  for (int i = 0; i < classes.size(); ++i) {
    cycles += steps[i] * classes[i].profile.cycles;
  }
  return cycles;
}

// Flags of the dimensions are independent: per dimension, count the indices of
// this core with each set of them, and multiply.
std::vector<int64_t> KernelTiming::StepsPerClass(const Kernel& kernel, int core,
                                                 int cores) const {
  const GridWalk walk(kernel, core, cores);
  std::vector<int64_t> result(classes.size(), 0);
  for (int c = 0; c < classes.size(); ++c) {
    int64_t steps = walk.num_steps() > 0 ? 1 : 0;
    for (int d = 0; d < kernel.grid.size(); ++d) {
      const CoreIndices share = {kernel, d, walk.lower(d), walk.upper(d)};
      const uint32_t mask = flag_mask & share.Bits();
      const uint32_t want = classes[c].flags & share.Bits();
      const auto is_wanted = [&](int64_t i) {
        return (share.FlagsOf(i) & mask) == want;
      };
      // Indices between the first and the last have no flags.
      const int64_t indices = share.end - share.begin;
      int64_t count = want == 0 ? std::max<int64_t>(0, indices - 2) : 0;
      if (indices > 0) count += is_wanted(share.begin);
      if (indices > 1) count += is_wanted(share.end - 1);
      steps *= count;
    }
    result[c] = steps;
  }
  return result;
}

std::vector<uint32_t> StepFlagSets(const Kernel& kernel) {
  return FlagSets(kernel, FlagsUsed(kernel.step));
}

int64_t CyclesOfFirstClass(const Kernel& kernel, const MachineModel& machine) {
  return CyclesOf(kernel.step, machine, StepFlagSets(kernel)[0]);
}

KernelTiming TimeKernel(const Kernel& kernel, const MachineModel& machine) {
  KernelTiming timing;
  timing.entry = ProfileCode(kernel.entry, machine);
  timing.exit = ProfileCode(kernel.exit, machine);
  timing.flag_mask = FlagsUsed(kernel.step);
  for (uint32_t flags : FlagSets(kernel, timing.flag_mask)) {
    timing.classes.push_back({flags, ProfileCode(kernel.step, machine, flags)});
  }
  return timing;
}

}  // namespace ptxla::isa
