#include "sim/core/kernel_plan.h"

#include <algorithm>
#include <map>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "isa/alike_steps.h"
#include "isa/grid.h"
#include "sim/core/transfer_work.h"

namespace ptxla::sim {
namespace {

using isa::DmaEvent;
using isa::Profile;
using isa::Space;

UnitUse UseOf(const Profile& p, const isa::MachineModel& m) {
  const auto unit = [&](isa::ExecUnit u) {
    const int n = std::max(1, m.Units(u));
    return CeilOfRatio<int64_t>(p.unit_busy[static_cast<int>(u)], n);
  };
  const auto slot = [&](isa::Slot s) {
    const int n = std::max(1, m.Slots(s));
    return CeilOfRatio<int64_t>(p.slot_uses[static_cast<int>(s)], n);
  };
  UnitUse use;
  use.mxu = std::max(unit(isa::ExecUnit::kMatmul), unit(isa::ExecUnit::kPush));
  use.valu = slot(isa::Slot::kVector);
  use.eup = unit(isa::ExecUnit::kEup);
  use.xlu = unit(isa::ExecUnit::kXlu);
  use.load = slot(isa::Slot::kLoad);
  use.store = slot(isa::Slot::kStore);
  return use;
}

// Cores that differ in so small a part of their steps, the last ones, are one
// another's mirror. ASSUMED: what that moves, half a percent, is within the 1 %
// that kernel may be off tile.
constexpr int64_t kPartOfSteps = 256;

bool AreAlike(const std::vector<int32_t>& a, const std::vector<int32_t>& b) {
  const auto least = static_cast<int64_t>(std::min(a.size(), b.size()));
  const auto most = static_cast<int64_t>(std::max(a.size(), b.size()));
  const int64_t last = least / kPartOfSteps;
  return most - least <= last &&
         std::equal(a.begin(), a.begin() + (least - last), b.begin());
}

class PlanMaker {
 public:
  PlanMaker(const isa::Kernel& kernel, const isa::KernelTiming& timing,
            int cores, const DeviceModel& device, std::vector<bool> in_place)
      : kernel_(kernel), device_(device), timing_(timing) {
    plan_.kernel = &kernel;
    plan_.cores = cores;
    plan_.in_place = std::move(in_place);
  }

  KernelPlan Make() {
    for (int core = 0; core < plan_.cores; ++core) {
      isa::GridWalk walk(kernel_, core, plan_.cores);
      plan_.steps.emplace_back();
      if (walk.num_steps() == 0) {
        // A core without work only meets the others at the barrier.
        plan_.entry.emplace_back();
        continue;
      }
      plan_.entry.push_back(PlanOf(timing_.entry, walk, Phase::kEntry));
      WalkSteps(&walk);
    }
    {
      const isa::GridWalk walk(kernel_, 0, plan_.cores);
      plan_.exit = PlanOf(timing_.exit, walk, Phase::kExit);
    }
    ResolveWork();
    plan_.working_cores = 0;
    for (const auto& steps : plan_.steps) {
      plan_.working_cores += !steps.empty();
    }
    plan_.working_cores = std::max(1, plan_.working_cores);
    plan_.symmetric = plan_.alike = true;
    for (int core = 1; core < plan_.cores; ++core) {
      const bool enter = SameEvents(plan_.entry[core], plan_.entry[0]);
      plan_.symmetric =
          plan_.symmetric && enter && plan_.steps[core] == plan_.steps[0];
      plan_.alike =
          plan_.alike && enter && AreAlike(plan_.steps[core], plan_.steps[0]);
    }
    return std::move(plan_);
  }

 private:
  enum class Phase { kEntry, kStep, kExit };

  bool Copied(int window) const {
    return !isa::IsResident(kernel_, kernel_.windows[window]);
  }

  void WalkSteps(isa::GridWalk* walk) {
    plan_.steps.back() = isa::NumberAlikeSteps(
        kernel_, walk, [this](const isa::GridWalk& at) { return SortOf(at); });
  }

  // What tells two grid steps apart: class of code, boxes that move.
  int32_t SortOf(const isa::GridWalk& walk) {
    std::vector<int64_t> key = {timing_.ClassOf(isa::StepFlags(walk))};
    for (int w = 0; w < static_cast<int>(kernel_.windows.size()); ++w) {
      if (!Copied(w) || !walk.StartMoves(w)) {
        key.push_back(-1);
        continue;
      }
      const isa::Box box = walk.StartBox(w);
      key.push_back(box.bytes);
      key.push_back(box.chunk_bytes);
    }
    const auto [it, fresh] =
        sort_of_.try_emplace(key, static_cast<int32_t>(plan_.sorts.size()));
    if (fresh) {
      plan_.sorts.push_back(
          PlanOf(timing_.classes[key[0]].profile, walk, Phase::kStep));
    }
    return it->second;
  }

  StepPlan PlanOf(const Profile& profile, const isa::GridWalk& walk,
                  Phase phase) {
    StepPlan step;
    step.cycles = profile.cycles;
    step.use = UseOf(profile, device_.machine);
    isa::ForEachEvent(profile.events,
                      [&](int64_t offset, const DmaEvent& event) {
                        AddEvent(offset, event, walk, phase, &step);
                      });
    return step;
  }

  void AddEvent(int64_t offset, const DmaEvent& event,
                const isa::GridWalk& walk, Phase phase, StepPlan* step) {
    PlanEvent e;
    e.offset = offset;
    e.index = event.index;
    e.amount = event.amount;
    switch (event.kind) {
      case DmaEvent::Kind::kStart: {
        if (!Copied(event.index)) return;
        const isa::Window& w = kernel_.windows[event.index];
        const bool input = w.direction == isa::Direction::kIn;
        e.kind = input ? PlanEvent::Kind::kStartInput
                       : PlanEvent::Kind::kStartOutput;
        e.write = !input;
        e.memory = MemoryOf(kernel_.args[w.arg].space, Space::kVmem);
        const auto add = [&](const isa::Box& box, int ahead) {
          e.amount = box.bytes;
          e.run = box.chunk_bytes;
          e.ahead = ahead;
          step->events.push_back(e);
        };
        if (phase == Phase::kStep) {
          if (!walk.StartMoves(event.index)) return;
          add(walk.StartBox(event.index), input ? walk.Ahead(event.index) : 0);
        } else {
          for (const int64_t s : walk.EntrySteps(event.index)) {
            add(walk.BoxOfStep(event.index, s), static_cast<int>(s));
          }
        }
        return;
      }
      case DmaEvent::Kind::kWait:
        if (!Copied(event.index)) return;
        e.kind = kernel_.windows[event.index].direction == isa::Direction::kIn
                     ? PlanEvent::Kind::kWaitInput
                     : PlanEvent::Kind::kWaitOutput;
        break;
      case DmaEvent::Kind::kStartDescriptor: {
        const isa::DmaDescriptor& d = kernel_.descriptors[event.index];
        const DescriptorSide side = SideOf(kernel_, d);
        e.kind = PlanEvent::Kind::kStartDescriptor;
        e.memory = side.memory;
        e.write = side.write;
        e.both = side.both;
        e.index = d.semaphore;
        e.amount = d.Bytes();
        e.counted = d.CountedBytes();
        e.run = side.run;
        break;
      }
      case DmaEvent::Kind::kWaitSemaphore:
        e.kind = PlanEvent::Kind::kWaitSemaphore;
        break;
      case DmaEvent::Kind::kSignal:
        e.kind = PlanEvent::Kind::kSignal;
        break;
    }
    step->events.push_back(e);
  }

  static bool SameEvents(const StepPlan& a, const StepPlan& b) {
    return a.events.size() == b.events.size() &&
           std::equal(a.events.begin(), a.events.end(), b.events.begin(),
                      [](const PlanEvent& x, const PlanEvent& y) {
                        return x.offset == y.offset && x.work == y.work;
                      });
  }

  // A descriptor's bytes pass HBM twice where it moves them within.
  static int64_t HbmBytes(const PlanEvent& e) {
    return e.both ? 2 * e.amount : e.amount;
  }

  static bool Moves(const PlanEvent& e) {
    return e.kind == PlanEvent::Kind::kStartInput ||
           e.kind == PlanEvent::Kind::kStartOutput ||
           e.kind == PlanEvent::Kind::kStartDescriptor;
  }

  template <class Fn>
  void ForEachPlan(Fn fn) {
    std::vector<std::vector<int64_t>> times(
        plan_.cores, std::vector<int64_t>(plan_.sorts.size(), 0));
    for (int c = 0; c < plan_.cores; ++c) {
      for (int32_t s : plan_.steps[c]) ++times[c][s];
    }
    for (int c = 0; c < plan_.cores; ++c) {
      fn(&plan_.entry[c], c, 1);
      for (size_t s = 0; s < plan_.sorts.size(); ++s) {
        fn(&plan_.sorts[s], c, times[c][s]);
      }
      if (!plan_.steps[c].empty()) fn(&plan_.exit, c, 1);
    }
  }

  // The share of writes in the kernel's traffic decides what a byte costs.
  void ResolveWork() {
    ForEachPlan([&](StepPlan* step, int, int64_t times) {
      for (const PlanEvent& e : step->events) {
        if (!Moves(e) || e.memory != Memory::kHbm) continue;
        plan_.hbm_bytes += HbmBytes(e) * times;
        if (e.write) plan_.write_bytes += e.amount * times;
      }
    });
    if (plan_.hbm_bytes > 0) {
      plan_.write_fraction = static_cast<double>(plan_.write_bytes) /
                             static_cast<double>(plan_.hbm_bytes);
    }
    const auto resolve = [&](StepPlan* step) {
      step->hbm_work = 0;
      for (PlanEvent& e : step->events) {
        if (!Moves(e)) continue;
        const int arg = e.kind == PlanEvent::Kind::kStartDescriptor
                            ? -1
                            : kernel_.windows[e.index].arg;
        e.work =
            WorkOf(plan_, device_, e.memory, e.write, HbmBytes(e), e.run, arg);
        if (e.memory == Memory::kHbm) step->hbm_work += e.work;
      }
    };
    for (StepPlan& s : plan_.entry) resolve(&s);
    for (StepPlan& s : plan_.sorts) resolve(&s);
    resolve(&plan_.exit);
    plan_.hbm_work.assign(plan_.cores, 0);
    ForEachPlan([&](StepPlan* step, int core, int64_t times) {
      plan_.hbm_work[core] += step->hbm_work * times;
    });
  }

  const isa::Kernel& kernel_;
  const DeviceModel& device_;
  const isa::KernelTiming& timing_;
  KernelPlan plan_;
  absl::flat_hash_map<std::vector<int64_t>, int32_t> sort_of_;
};

}  // namespace

int64_t UnitUse::vpu() const { return std::max({valu, eup, xlu, load, store}); }

void UnitUse::Add(const UnitUse& o, int64_t times) {
  mxu += o.mxu * times;
  valu += o.valu * times;
  eup += o.eup * times;
  xlu += o.xlu * times;
  load += o.load * times;
  store += o.store * times;
}

KernelPlan MakePlan(const isa::Kernel& kernel, const isa::KernelTiming& timing,
                    int cores, const DeviceModel& device,
                    std::vector<bool> in_place) {
  return PlanMaker(kernel, timing, cores, device, std::move(in_place)).Make();
}

}  // namespace ptxla::sim
