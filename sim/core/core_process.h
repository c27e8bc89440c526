// One core at work on a kernel: a state machine that an engine resumes. What a
// transfer costs is the port's business, when to come back the engine's.
//
//   for (Wait w = p.Resume(now); w.kind != Wait::Kind::kDone; w =
//   p.Resume(now))
//     … let time pass until w.cycle, or until the port knows w.transfer …
#ifndef PTXLA_SIM_CORE_CORE_PROCESS_H_
#define PTXLA_SIM_CORE_CORE_PROCESS_H_

#include <cstdint>
#include <string>

#include "sim/core/bound.h"
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

class CoreProcess {
 public:
  // For a port that knows every end at once.
  static constexpr int64_t kForever = INT64_MAX;

  virtual ~CoreProcess() = default;
  // Goes on as far as it can. `now`: all earlier calls of the port were at or
  // before it.
  virtual Wait Resume(int64_t now) = 0;

  virtual int64_t start() const = 0;
  virtual int64_t cycle() const = 0;  // where its time stands
  // Of what has run; sums to cycle() - start() at the end.
  virtual BoundCycles bounds() const = 0;
  virtual UnitUse use() const = 0;
  // Of its stalls; zero where a process does not tell them apart.
  virtual WaitCycles waits() const { return {}; }
  // "window a of fusion.3 in grid step 7", for errors.
  virtual std::string WhatItWaitsFor() const = 0;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_CORE_PROCESS_H_
