// What happened, in cycles: the raw material of a DeviceTrace.
#ifndef PTXLA_SIM_CORE_RECORDER_H_
#define PTXLA_SIM_CORE_RECORDER_H_

#include <cstdint>
#include <string>
#include <vector>

#include "interconnect/collectives.h"
#include "isa/program.h"
#include "sim/core/bound.h"
#include "sim/core/device_model.h"
#include "sim/core/kernel_plan.h"

namespace ptxla::sim {

// One schedule entry that took time or ran a kernel.
struct OpEvent {
  const isa::Op* op = nullptr;
  const KernelPlan* plan = nullptr;  // of a call
  int64_t start = 0, end = 0;        // cycles
  BoundCycles bounds;                // sums to end - start
  UnitUse use;
  int64_t repeat = 1;  // executions that this one stands for
};

// An asynchronous copy or a collective.
struct AsyncEvent {
  const isa::Op* op = nullptr;
  bool collective = false;
  Memory memory = Memory::kHbm;
  int64_t start = 0, end = 0;  // cycles
  int64_t bytes = 0;
  int64_t exposed = 0;  // cycles for which something waited for it
  ici::CollectiveCost cost;
  int64_t repeat = 1;
};

struct Recorder {
  std::vector<OpEvent> ops;
  std::vector<AsyncEvent> transfers;
  int64_t end = 0;  // of the program
  int64_t prologue = 0;
  int64_t events = 0;  // resumptions of a process
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_RECORDER_H_
