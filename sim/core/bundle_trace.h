// What the interpreter did when it executed one core's share of a kernel on
// data: the DMA events in order, at the cycles at which they would be if no DMA
// took time. Replaying it against the DMA engine gives the kernel's time, from
// executed bundles instead of static timing.
#ifndef PTXLA_SIM_CORE_BUNDLE_TRACE_H_
#define PTXLA_SIM_CORE_BUNDLE_TRACE_H_

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "isa/interpreter.h"
#include "sim/core/core_process.h"
#include "sim/core/semaphores.h"

namespace ptxla::sim {

struct BundleEvent {
  int64_t offset = 0;  // cycles from the kernel's start, without stalls
  isa::DmaEvent event;
  Memory memory = Memory::kHbm;
  int64_t work = 0;   // ticks, of a start
  int64_t bytes = 0;  // of a start
  bool write = false;
};

struct BundleTrace {
  std::vector<BundleEvent> events;
  int64_t cycles = 0;  // without stalls
};

// Executes one core's share on the memories of `core`. `plan` says what a byte
// costs in this kernel; `peer` may be null (isa/peer_link.h).
absl::StatusOr<BundleTrace> ExecuteBundles(
    const KernelPlan& plan, const DeviceModel& device, isa::Core* core,
    absl::Span<const isa::ArgMemory> args, int core_index, isa::PeerPort* peer);

// Lets a trace run against a port. Stalls belong to HBM; of the rest, as many
// cycles as the busiest unit was taken to MXU or VPU, and what is left to
// overhead.
class ReplayProcess : public CoreProcess {
 public:
  // `plan`, `trace` and `dma` outlive the process.
  ReplayProcess(const KernelPlan& plan, const BundleTrace& trace, int core,
                DmaPort* dma, int64_t start);

  Wait Resume(int64_t now) override;
  int64_t start() const override { return start_; }
  int64_t cycle() const override {
    return ended_ ? base_ + trace_.cycles : base_;
  }
  BoundCycles bounds() const override;
  UnitUse use() const override;
  std::string WhatItWaitsFor() const override;

 private:
  bool Handle(const BundleEvent& e, int64_t now, Wait* wait);

  const KernelPlan& plan_;
  const BundleTrace& trace_;
  int core_;
  DmaPort* dma_;
  int64_t start_;
  int64_t base_;  // cycle of offset 0, stalls included
  size_t next_ = 0;
  bool ended_ = false;
  // Transfers of each window that no wait has covered, by number.
  std::vector<std::map<int64_t, Flight>> flights_;
  Semaphores semaphores_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_BUNDLE_TRACE_H_
