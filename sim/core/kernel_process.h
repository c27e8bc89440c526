// One core running its share of a kernel: a state machine that some engine
// resumes. It keeps the order of bundles and DMA events; what a transfer costs
// is the port's business, when to come back the engine's.
//
//   KernelProcess p(plan, core, stream, &dma, start);
//   for (Wait w = p.Resume(now); w.kind != Wait::Kind::kDone; w =
//   p.Resume(now))
//     … let time pass until w.cycle, or until the port knows w.transfer …
//
// Step accounting: a step whose longest own time is that of HBM belongs to HBM
// as a whole. Otherwise its busiest unit's cycles belong to MXU or VPU, the
// cycles in which no unit was the limit (fill, drain, control) to overhead, and
// waiting for DMA to HBM. Entry and exit code are overhead, their waits HBM.
#ifndef PTXLA_SIM_CORE_KERNEL_PROCESS_H_
#define PTXLA_SIM_CORE_KERNEL_PROCESS_H_

#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "sim/core/bound.h"
#include "sim/core/dma_engine.h"
#include "sim/core/kernel_plan.h"

namespace ptxla::sim {

struct Wait {
  enum class Kind : uint8_t {
    kUntil,     // resume at `cycle`
    kTransfer,  // resume when the port knows the end of `transfer`
    kStuck,     // nothing under way can end the wait
    kDone,      // the kernel ended at `cycle`
  };
  Kind kind = Kind::kDone;
  int64_t cycle = 0;
  int64_t transfer = -1;
};

class KernelProcess {
 public:
  // `plan` and `dma` outlive the process. `stream`: of the port.
  KernelProcess(const KernelPlan& plan, int core, int stream, DmaPort* dma,
                int64_t start);

  // Goes on as far as it can. `now`: all earlier calls of the port were at or
  // before it. With a port that knows every end at once, pass kForever.
  static constexpr int64_t kForever = INT64_MAX;
  Wait Resume(int64_t now);
  // Stops after the current grid step, for looking at steady states.
  Wait ResumeToNextStep(int64_t now);

  int64_t step() const { return step_; }   // grid steps finished
  int64_t cycle() const { return base_; }  // where its time stands
  int64_t start() const { return start_; }
  const BoundCycles& bounds() const { return bounds_; }
  const UnitUse& use() const { return use_; }
  // "window a of fusion.3 in grid step 7", for errors.
  std::string WhatItWaitsFor() const;

  // What the future depends on, relative to cycle(); see KernelRunner.
  void RelativeState(std::vector<int64_t>* state) const;
  // As if `steps` more steps had run, taking `cycles` and counting `bounds`
  // and `use`.
  void Skip(int64_t steps, int64_t cycles, const BoundCycles& bounds,
            const UnitUse& use);

 private:
  enum class Phase : uint8_t { kEntry, kSteps, kExit, kEnded };
  struct Flight {
    int64_t id = -1;  // of the port, -1: none
    int64_t done = kUnknownCycle;
  };
  struct WindowState {
    Flight current;             // input: fetch of this step's block
    Flight next;                // input: fetch of the next step's block
    std::deque<Flight> writes;  // output: of its slots, oldest first
  };
  struct Landing {  // a transfer that counts up a semaphore
    Flight flight;
    int64_t bytes = 0;
  };
  struct Semaphore {
    int64_t value = 0;
    std::vector<Landing> landings;
  };

  const StepPlan& Code() const;
  Wait Run(int64_t now, bool one_step);
  // False if it must stop at this event; then *wait says why.
  bool Handle(const PlanEvent& e, int64_t now, Wait* wait);
  bool AwaitFlight(Flight* flight, int64_t at, Wait* wait);
  bool AwaitSemaphore(const PlanEvent& e, int64_t at, Wait* wait);
  void FinishCode();
  void Know(Flight* flight) const;

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
  std::vector<Semaphore> semaphores_;
  BoundCycles bounds_;
  UnitUse use_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_KERNEL_PROCESS_H_
