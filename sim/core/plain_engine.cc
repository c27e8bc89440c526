#include "sim/core/plain_engine.h"

#include <optional>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::sim {

absl::Status RunPlain(Sequencer* sequencer, DmaEngine* dma,
                      Recorder* recorder) {
  int64_t now = 0;
  while (true) {
    ASSIGN_OR_RETURN(const Action action, sequencer->Next(now));
    ++recorder->events;
    switch (action.kind) {
      case Action::Kind::kDone:
        return absl::OkStatus();
      case Action::Kind::kUntil:
        dma->AdvanceTo(action.cycle);
        now = action.cycle;
        break;
      case Action::Kind::kTransfer:
        while (dma->DoneCycle(action.transfer) == kUnknownCycle) {
          const std::optional<int64_t> next = dma->NextEvent();
          if (!next) {
            return absl::FailedPreconditionError(
                absl::StrCat("deadlock: ", sequencer->WhatItWaitsFor(),
                             " and nothing is under way"));
          }
          dma->AdvanceTo(*next);
          now = *next;
        }
        break;
      case Action::Kind::kRunKernel: {
        ProcessList processes;
        for (int core = 0; core < action.plan->cores; ++core) {
          processes.push_back(MakeProcess(action, core, dma, now));
        }
        RETURN_IF_ERROR(RunTogether(processes, dma, &recorder->events));
        sequencer->KernelEnded(ResultOf(processes));
        break;
      }
    }
  }
}

}  // namespace ptxla::sim
