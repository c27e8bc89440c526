#include "sim/core/kernel_runner.h"

#include <algorithm>
#include <optional>

#include "base/status.h"
#include "sim/core/solo_dma.h"

namespace ptxla::sim {
namespace {

// Periods with which the steps of a grid can repeat: the sizes of its inner
// sweeps, innermost first.
std::vector<int64_t> CandidatePeriods(const KernelPlan& plan, int64_t steps) {
  std::vector<int64_t> periods = {1};
  int64_t divisor = 1;
  for (const isa::Window& w : plan.kernel->windows) {
    for (const isa::WindowDim& d : w.dims) {
      if (d.grid_dim >= 0 && d.grid_divisor > divisor) divisor = d.grid_divisor;
    }
  }
  if (divisor > 1 && 3 * divisor <= steps) periods.push_back(divisor);
  int64_t sweep = 1;
  for (auto n = plan.kernel->grid.rbegin(); n != plan.kernel->grid.rend();
       ++n) {
    sweep *= *n;
    if (sweep > 1 && 3 * sweep <= steps) periods.push_back(sweep);
  }
  return periods;
}

// Finds out when a run repeats itself.
class SteadyState {
 public:
  SteadyState(int64_t period, const std::vector<int32_t>& steps)
      : period_(period), steps_(steps) {}

  struct Jump {
    int64_t steps = 0, cycles = 0;
    BoundCycles bounds;
    UnitUse use;
    WaitCycles waits;
  };
  // At the start of step s. A jump if the last period began in the same state
  // and the coming steps are those of the last period, again and again.
  std::optional<Jump> At(const KernelProcess& p, const SoloDma& dma) {
    const int64_t s = p.step();
    if (s % period_ != 0) return std::nullopt;
    if (!p.SemaphoresIdle()) {
      seen_ = false;
      return std::nullopt;
    }
    state_.clear();
    p.RelativeState(&state_);
    for (int m = 0; m < kNumMemories; ++m) {
      state_.push_back(dma.BusyAfter(m, p.cycle()));
    }
    std::optional<Jump> jump;
    if (seen_ && state_ == last_state_) {
      int64_t same = 0;
      const int64_t n = static_cast<int64_t>(steps_.size());
      while (s + same < n && steps_[s + same] == steps_[s + same - period_]) {
        ++same;
      }
      // The start of a step asks for the blocks of the next one, so the last
      // step of a repeated stretch must be walked.
      const int64_t times = same / period_;
      if (times > 0) {
        jump.emplace();
        jump->steps = times * period_;
        jump->cycles = times * (p.cycle() - last_cycle_);
        for (int b = 0; b < kNumBounds; ++b) {
          jump->bounds.cycles[b] =
              times * (p.bounds().cycles[b] - last_bounds_.cycles[b]);
        }
        jump->use.Add(p.use(), times);
        jump->use.Add(last_use_, -times);
        jump->waits.Add(p.waits(), times);
        jump->waits.Add(last_waits_, -times);
      }
    }
    seen_ = true;
    last_state_.swap(state_);
    last_cycle_ = p.cycle();
    last_bounds_ = p.bounds();
    last_use_ = p.use();
    last_waits_ = p.waits();
    return jump;
  }
  void Forget() { seen_ = false; }

 private:
  const int64_t period_;
  const std::vector<int32_t>& steps_;
  bool seen_ = false;
  std::vector<int64_t> state_, last_state_;
  int64_t last_cycle_ = 0;
  BoundCycles last_bounds_;
  UnitUse last_use_;
  WaitCycles last_waits_;
};

absl::Status Stuck(const CoreProcess& p) {
  return absl::FailedPreconditionError(
      absl::StrCat("deadlock: ", p.WhatItWaitsFor()));
}

absl::StatusOr<KernelResult> RunSolo(const KernelPlan& plan,
                                     const DeviceModel& device, int core,
                                     int64_t hbm_rate, bool jump) {
  SoloDma dma(device, plan.working_cores, hbm_rate);
  KernelProcess process(plan, core, 0, &dma, 0);
  const std::vector<int32_t>& steps = plan.steps[core];
  const int64_t n = static_cast<int64_t>(steps.size());
  std::vector<SteadyState> states;
  if (jump && n > 4) {
    for (int64_t period : CandidatePeriods(plan, n)) {
      states.emplace_back(period, steps);
    }
  }
  int64_t computed = 0;
  Wait wait;
  while (process.step() < n) {
    wait = process.ResumeToNextStep(KernelProcess::kForever);
    ++computed;
    if (wait.kind != Wait::Kind::kUntil) break;
    if (process.step() >= n) break;
    for (SteadyState& state : states) {
      if (auto j = state.At(process, dma)) {
        process.Skip(j->steps, j->cycles, j->bounds, j->use, j->waits);
        dma.Shift(j->cycles);
        for (SteadyState& s : states) s.Forget();
        break;
      }
    }
  }
  wait = process.Resume(KernelProcess::kForever);
  if (wait.kind != Wait::Kind::kDone) return Stuck(process);
  return KernelResult{
      process.cycle(), process.bounds(), process.use(), process.waits(), core,
      computed};
}

}  // namespace

absl::Status RunTogether(const ProcessList& processes, DmaEngine* dma,
                         int64_t* events) {
  std::vector<Wait> waits;
  for (const auto& p : processes) {
    waits.push_back({Wait::Kind::kUntil, p->start(), -1});
  }
  while (true) {
    // The next cycle at which anything happens.
    std::optional<int64_t> next = dma->NextEvent();
    bool running = false;
    for (size_t i = 0; i < waits.size(); ++i) {
      const Wait& w = waits[i];
      if (w.kind == Wait::Kind::kDone) continue;
      running = true;
      if (w.kind == Wait::Kind::kStuck) return Stuck(*processes[i]);
      if (w.kind == Wait::Kind::kUntil) {
        next = next ? std::min(*next, w.cycle) : w.cycle;
      }
    }
    if (!running) return absl::OkStatus();
    if (!next) {
      for (size_t i = 0; i < waits.size(); ++i) {
        if (waits[i].kind != Wait::Kind::kDone) return Stuck(*processes[i]);
      }
    }
    dma->AdvanceTo(*next);
    for (size_t i = 0; i < waits.size(); ++i) {
      Wait& w = waits[i];
      const bool ready = (w.kind == Wait::Kind::kUntil && w.cycle <= *next) ||
                         (w.kind == Wait::Kind::kTransfer &&
                          dma->DoneCycle(w.transfer) != kUnknownCycle);
      if (!ready) continue;
      w = processes[i]->Resume(*next);
      ++*events;
    }
  }
}

KernelResult ResultOf(const ProcessList& processes) {
  KernelResult result;
  size_t core = 0;
  for (size_t p = 1; p < processes.size(); ++p) {
    if (processes[p]->cycle() > processes[core]->cycle()) core = p;
  }
  const CoreProcess* last = processes[core].get();
  result.cycles = last->cycle() - last->start();
  result.bounds = last->bounds();
  result.use = last->use();
  result.waits = last->waits();
  result.core = static_cast<int>(core);
  return result;
}

absl::StatusOr<KernelResult> RunAlone(const KernelPlan& plan,
                                      const DeviceModel& device, bool jump) {
  if (plan.working_cores == 1 || plan.symmetric) {
    int core = 0;
    while (core + 1 < plan.cores && plan.steps[core].empty()) ++core;
    return RunSolo(plan, device, core,
                   DmaEngine(device).CoreRate(plan.working_cores), jump);
  }
  if (jump && plan.alike) {
    // Each beside its mirror; the later one ends the kernel.
    std::optional<KernelResult> last;
    for (int core = 0; core < plan.cores; ++core) {
      ASSIGN_OR_RETURN(
          KernelResult result,
          RunSolo(plan, device, core,
                  DmaEngine(device).CoreRate(plan.working_cores), jump));
      if (!last || result.cycles > last->cycles) last = std::move(result);
    }
    return *last;
  }
  DmaEngine dma(device);
  ProcessList processes;
  for (int core = 0; core < plan.cores; ++core) {
    processes.push_back(
        std::make_unique<KernelProcess>(plan, core, core, &dma, 0));
  }
  int64_t events = 0;
  RETURN_IF_ERROR(RunTogether(processes, &dma, &events));
  return ResultOf(processes);
}

absl::StatusOr<KernelResult> RunCore(const KernelPlan& plan,
                                     const DeviceModel& device, int core,
                                     int64_t hbm_rate, bool jump) {
  return RunSolo(plan, device, core, hbm_rate, jump);
}

}  // namespace ptxla::sim
