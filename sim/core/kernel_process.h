// A CoreProcess by static timing: the step plans of a KernelPlan in order.
//
// Step accounting: of a step's cycles, as many as its longest resource needs
// (MXU, VPU, or HBM for the blocks that the step moves) belong to that
// resource; the rest, in which nothing was at its limit (fill, drain, control),
// to overhead; waiting for DMA to HBM. Entry and exit code are overhead, their
// waits HBM.
#ifndef PTXLA_SIM_CORE_KERNEL_PROCESS_H_
#define PTXLA_SIM_CORE_KERNEL_PROCESS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "sim/core/core_process.h"
#include "sim/core/dma_engine.h"
#include "sim/core/semaphores.h"

namespace ptxla::sim {

class KernelProcess : public CoreProcess {
 public:
  // `plan` and `dma` outlive the process. `stream`: of the port.
  KernelProcess(const KernelPlan& plan, int core, int stream, DmaPort* dma,
                int64_t start);

  Wait Resume(int64_t now) override;
  // Stops after the current grid step, for looking at steady states.
  Wait ResumeToNextStep(int64_t now);

  int64_t step() const { return step_; }  // grid steps finished
  int64_t cycle() const override { return base_; }
  int64_t start() const override { return start_; }
  BoundCycles bounds() const override { return bounds_; }
  UnitUse use() const override { return use_; }
  WaitCycles waits() const override { return waits_; }
  std::string WhatItWaitsFor() const override;

  // What the future depends on, relative to cycle(), while no semaphore has
  // anything to wait for; see KernelRunner.
  void RelativeState(std::vector<int64_t>* state) const;
  bool SemaphoresIdle() const { return semaphores_.Idle(); }
  // As if `steps` more steps had run, taking `cycles` and counting `bounds`,
  // `use` and `waits`.
  void Skip(int64_t steps, int64_t cycles, const BoundCycles& bounds,
            const UnitUse& use, const WaitCycles& waits);

 private:
  enum class Phase : uint8_t { kEntry, kSteps, kExit, kEnded };
  struct WindowState {
    Flight current;  // input: fetch of this step's block
    // Input: fetches of later steps' blocks, by the step.
    std::deque<std::pair<int64_t, Flight>> later;
    std::deque<Flight> writes;  // output: of its slots, oldest first
  };
  const StepPlan& Code() const;
  Wait Run(int64_t now, bool one_step);
  // False if it must stop at this event; then *wait says why.
  bool Handle(const PlanEvent& e, int64_t now, Wait* wait);
  // What it waits for is added to `stall`.
  bool AwaitFlight(Flight* flight, int64_t at, int64_t* stall, Wait* wait);

  void FinishCode();

  const KernelPlan& plan_;
  int core_, stream_;
  DmaPort* dma_;
  int64_t start_;
  Phase phase_ = Phase::kEntry;
  int64_t step_ = 0;
  size_t event_ = 0;
  int64_t base_;        // cycle of offset 0 of the code, stalls included
  int64_t code_start_;  // cycle at which the code began
  std::vector<WindowState> windows_;
  Semaphores semaphores_;
  BoundCycles bounds_;
  UnitUse use_;
  WaitCycles waits_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_PROCESS_H_
