#include "sim/sc/core_module.h"

#include "absl/strings/str_cat.h"
#include "sim/core/kernel_runner.h"
#include "sim/sc/sim_time.h"

namespace ptxla::sim::sc {

CoreModule::CoreModule(sc_core::sc_module_name name, int core, DeviceRun* run)
    : sc_core::sc_module(name), core_(core), run_(run) {
  if (core == 0) {
    SC_THREAD(RunProgram);
  } else {
    SC_THREAD(RunShares);
  }
}

int64_t CoreModule::Now() const { return NowCycle(run_->device->clock); }

void CoreModule::WaitUntil(int64_t cycle) {
  const sc_core::sc_time delay = Until(cycle, run_->device->clock);
  if (delay != sc_core::SC_ZERO_TIME) wait(delay);
}

void CoreModule::RunProgram() {
  while (run_->status.ok()) {
    const int64_t now = Now();
    run_->engine->AdvanceTo(now);
    absl::StatusOr<Action> action = run_->sequencer->Next(now);
    ++run_->recorder->events;
    if (!action.ok()) {
      run_->status = action.status();
      return;
    }
    switch (action->kind) {
      case Action::Kind::kDone:
        run_->finished = true;
        return;
      case Action::Kind::kUntil:
        if (action->collective) {
          run_->ici->AwaitCollective(action->cycle);
        } else {
          WaitUntil(action->cycle);
        }
        break;
      case Action::Kind::kTransfer:
        run_->dma->AwaitEnd(action->transfer);
        break;
      case Action::Kind::kRunKernel:
        RunKernel(*action, now);
        break;
    }
  }
}

void CoreModule::RunKernel(const Action& action, int64_t now) {
  run_->kernel = action;
  run_->kernel_start = now;
  run_->running = action.plan->cores;
  run_->processes.clear();
  run_->processes.resize(action.plan->cores);
  if (action.plan->cores > 1) run_->kernel_begins.notify();
  RunShare();
  // The barrier.
  while (run_->running > 0 && run_->status.ok()) wait(run_->kernel_ends);
  if (!run_->status.ok()) return;
  run_->sequencer->KernelEnded(ResultOf(run_->processes));
}

void CoreModule::RunShares() {
  while (true) {
    wait(run_->kernel_begins);
    if (core_ < run_->kernel.plan->cores) RunShare();
  }
}

void CoreModule::RunShare() {
  std::unique_ptr<CoreProcess>& process = run_->processes[core_];
  process = MakeProcess(run_->kernel, core_, run_->dma, run_->kernel_start);
  while (run_->status.ok()) {
    const Wait w = process->Resume(Now());
    ++run_->recorder->events;
    if (w.kind == Wait::Kind::kUntil) {
      WaitUntil(w.cycle);
    } else if (w.kind == Wait::Kind::kTransfer) {
      run_->dma->AwaitEnd(w.transfer);
    } else if (w.kind == Wait::Kind::kStuck) {
      run_->status = absl::FailedPreconditionError(
          absl::StrCat("deadlock: ", process->WhatItWaitsFor()));
    } else {
      WaitUntil(w.cycle);
      break;
    }
  }
  --run_->running;
  run_->kernel_ends.notify();
}

}  // namespace ptxla::sim::sc
