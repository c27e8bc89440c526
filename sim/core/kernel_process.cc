#include "sim/core/kernel_process.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace ptxla::sim {

KernelProcess::KernelProcess(const KernelPlan& plan, int core, int stream,
                             DmaPort* dma, int64_t start)
    : plan_(plan),
      core_(core),
      stream_(stream),
      dma_(dma),
      start_(start),
      base_(start),
      code_start_(start),
      windows_(plan.kernel->windows.size()),
      semaphores_(plan.kernel->num_semaphores) {
  if (plan.steps[core].empty()) phase_ = Phase::kEnded;
}

const StepPlan& KernelProcess::Code() const {
  switch (phase_) {
    case Phase::kEntry:
      return plan_.entry[core_];
    case Phase::kSteps:
      return plan_.sorts[plan_.steps[core_][step_]];
    default:
      return plan_.exit;
  }
}

Wait KernelProcess::Resume(int64_t now) { return Run(now, false); }

Wait KernelProcess::ResumeToNextStep(int64_t now) { return Run(now, true); }

Wait KernelProcess::Run(int64_t now, bool one_step) {
  Wait wait;
  while (phase_ != Phase::kEnded) {
    const StepPlan& code = Code();
    while (event_ < code.events.size()) {
      if (!Handle(code.events[event_], now, &wait)) return wait;
      ++event_;
    }
    const bool was_step = phase_ == Phase::kSteps;
    FinishCode();
    if (one_step && was_step) return {Wait::Kind::kUntil, base_, -1};
  }
  // The last cycle has not passed for the engine until `base_`.
  return {Wait::Kind::kDone, base_, -1};
}

bool KernelProcess::AwaitFlight(Flight* flight, int64_t at, int64_t* stall,
                                Wait* wait) {
  if (flight->id < 0) return true;
  flight->Know(*dma_);
  if (flight->done == kUnknownCycle) {
    *wait = {Wait::Kind::kTransfer, at, flight->id};
    return false;
  }
  if (flight->done > at) {
    base_ += flight->done - at;
    *stall += flight->done - at;
  }
  *flight = Flight();
  return true;
}

bool KernelProcess::Handle(const PlanEvent& e, int64_t now, Wait* wait) {
  const int64_t at = base_ + e.offset;
  switch (e.kind) {
    case PlanEvent::Kind::kStartInput:
    case PlanEvent::Kind::kStartOutput:
    case PlanEvent::Kind::kStartDescriptor: {
      if (at > now) {  // the port is asked in time order
        *wait = {Wait::Kind::kUntil, at, -1};
        return false;
      }
      const Flight flight{
          dma_->Submit(at, {e.memory, stream_, e.work, e.amount, e.write}),
          kUnknownCycle};
      if (e.kind == PlanEvent::Kind::kStartInput) {
        WindowState& w = windows_[e.index];
        if (e.ahead == 0) {
          w.current = flight;
        } else {
          w.later.push_back({step_ + e.ahead, flight});
        }
      } else if (e.kind == PlanEvent::Kind::kStartOutput) {
        windows_[e.index].writes.push_back(flight);
      } else {
        semaphores_.AddWhenDone(e.index, e.counted, flight.id);
      }
      return true;
    }
    case PlanEvent::Kind::kWaitInput:
      return AwaitFlight(&windows_[e.index].current, at,
                         step_ == 0 ? &waits_.first_load : &waits_.loads, wait);
    case PlanEvent::Kind::kWaitOutput: {
      // In a step: the write-back that used this step's slot last. In the
      // exit: all of them.
      std::deque<Flight>& writes = windows_[e.index].writes;
      const size_t keep =
          phase_ == Phase::kExit ? 0 : plan_.kernel->windows[e.index].slots - 1;
      while (writes.size() > keep) {
        if (!AwaitFlight(
                &writes.front(), base_ + e.offset,
                phase_ == Phase::kExit ? &waits_.last_store : &waits_.stores,
                wait)) {
          return false;
        }
        writes.pop_front();
      }
      return true;
    }
    case PlanEvent::Kind::kWaitSemaphore: {
      int64_t when = at;
      if (!semaphores_.Await(e.index, e.amount, at, *dma_, &when, wait)) {
        return false;
      }
      base_ += when - at;
      waits_.semaphores += when - at;
      return true;
    }
    case PlanEvent::Kind::kSignal:
      semaphores_.Add(e.index, e.amount);
      return true;
  }
  return true;
}

void KernelProcess::FinishCode() {
  const StepPlan& code = Code();
  const int64_t stall = base_ - code_start_;
  use_.Add(code.use, 1);
  if (phase_ == Phase::kSteps) {
    const int64_t mxu = code.use.mxu, vpu = code.use.vpu();
    const int64_t hbm = CycleAtOrAfter(code.hbm_work);
    if (hbm > mxu && hbm > vpu) {
      const int64_t own = std::min(hbm, code.cycles);
      bounds_[Bound::kHbm] += stall + own;
      bounds_[Bound::kOverhead] += code.cycles - own;
    } else {
      const int64_t own = std::min(std::max(mxu, vpu), code.cycles);
      bounds_[mxu >= vpu ? Bound::kMxu : Bound::kVpu] += own;
      bounds_[Bound::kOverhead] += code.cycles - own;
      bounds_[Bound::kHbm] += stall;
    }
  } else {
    bounds_[Bound::kOverhead] += code.cycles;
    bounds_[Bound::kHbm] += stall;
  }
  base_ += code.cycles;
  code_start_ = base_;
  event_ = 0;
  if (phase_ == Phase::kEntry) {
    phase_ = Phase::kSteps;
  } else if (phase_ == Phase::kSteps) {
    for (WindowState& w : windows_) {
      if (!w.later.empty() && w.later.front().first == step_ + 1) {
        w.current = w.later.front().second;
        w.later.pop_front();
      }
    }
    ++step_;
    if (step_ == static_cast<int64_t>(plan_.steps[core_].size())) {
      phase_ = Phase::kExit;
    }
  } else {
    phase_ = Phase::kEnded;
  }
}

void KernelProcess::RelativeState(std::vector<int64_t>* state) const {
  // A transfer that has ended can delay nothing, however long ago it was.
  const auto add = [&](const Flight& f) {
    const int64_t done = f.id < 0                  ? 0
                         : f.done == kUnknownCycle ? dma_->DoneCycle(f.id)
                                                   : f.done;
    state->push_back(std::max<int64_t>(0, done - base_));
  };
  for (const WindowState& w : windows_) {
    add(w.current);
    for (const auto& [step, flight] : w.later) {
      state->push_back(step - step_);
      add(flight);
    }
    state->push_back(static_cast<int64_t>(w.writes.size()));
    for (const Flight& f : w.writes) add(f);
  }
}

void KernelProcess::Skip(int64_t steps, int64_t cycles,
                         const BoundCycles& bounds, const UnitUse& use,
                         const WaitCycles& waits) {
  CHECK(phase_ == Phase::kSteps && event_ == 0);
  const auto shift = [&](Flight* f) {
    f->Know(*dma_);
    if (f->id >= 0) f->done += cycles;
  };
  for (WindowState& w : windows_) {
    shift(&w.current);
    for (auto& [step, flight] : w.later) {
      step += steps;
      shift(&flight);
    }
    for (Flight& f : w.writes) shift(&f);
  }
  step_ += steps;
  if (step_ == static_cast<int64_t>(plan_.steps[core_].size())) {
    phase_ = Phase::kExit;
  }
  base_ += cycles;
  code_start_ = base_;
  bounds_.Add(bounds);
  use_.Add(use, 1);
  waits_.Add(waits);
}

std::string KernelProcess::WhatItWaitsFor() const {
  std::string where = phase_ == Phase::kEntry ? "its entry"
                      : phase_ == Phase::kExit
                          ? "its exit"
                          : absl::StrCat("grid step ", step_);
  std::string what = "nothing";
  if (phase_ != Phase::kEnded && event_ < Code().events.size()) {
    const PlanEvent& e = Code().events[event_];
    switch (e.kind) {
      case PlanEvent::Kind::kWaitInput:
      case PlanEvent::Kind::kWaitOutput:
        what = absl::StrCat(
            "the DMA of window ", e.index, " (",
            plan_.kernel->args[plan_.kernel->windows[e.index].arg].name, ")");
        break;
      case PlanEvent::Kind::kWaitSemaphore:
        what = absl::StrCat("semaphore ", e.index, " to reach ", e.amount,
                            " bytes; it holds ", semaphores_.value(e.index),
                            " and nothing more is under way");
        break;
      default:
        what = "its turn";
    }
  }
  return absl::StrCat("core ", core_, " in ", where, " of kernel \"",
                      plan_.kernel->name, "\" waits for ", what);
}

}  // namespace ptxla::sim
