#include "sim/core/bundle_trace.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::sim {
namespace {

using Kind = isa::DmaEvent::Kind;

// Writes down what the interpreter does; no DMA takes time.
class Recording : public isa::DmaClock {
 public:
  Recording(const KernelPlan& plan, const DeviceModel& device,
            BundleTrace* trace)
      : plan_(plan), device_(device), trace_(trace) {}

  void OnStart(const isa::DmaEvent& event, const isa::Box& box,
               int64_t now) override {
    BundleEvent e;
    e.offset = now;
    e.event = event;
    e.bytes = box.bytes;
    if (event.kind == Kind::kStart) {
      const TransferCost cost =
          WindowCost(plan_, device_, event.index, box.bytes, box.chunk_bytes);
      e.memory = cost.memory;
      e.work = cost.work;
      e.write = cost.write;
    } else if (event.kind == Kind::kStartDescriptor) {
      const TransferCost cost = DescriptorCost(plan_, device_, event.index);
      e.memory = cost.memory;
      e.work = cost.work;
      e.write = cost.write;
    }
    trace_->events.push_back(e);
  }
  int64_t OnWait(const isa::DmaEvent& event, int64_t now) override {
    BundleEvent e;
    e.offset = now;
    e.event = event;
    trace_->events.push_back(e);
    return now;
  }

 private:
  const KernelPlan& plan_;
  const DeviceModel& device_;
  BundleTrace* trace_;
};

}  // namespace

absl::StatusOr<BundleTrace> ExecuteBundles(
    const KernelPlan& plan, const DeviceModel& device, isa::Core* core,
    absl::Span<const isa::ArgMemory> args, int core_index,
    isa::PeerPort* peer) {
  BundleTrace trace;
  Recording recording(plan, device, &trace);
  ASSIGN_OR_RETURN(trace.cycles, core->Run(*plan.kernel, args, core_index,
                                           plan.cores, &recording, peer));
  return trace;
}

ReplayProcess::ReplayProcess(const KernelPlan& plan, const BundleTrace& trace,
                             int core, DmaPort* dma, int64_t start)
    : plan_(plan),
      trace_(trace),
      core_(core),
      dma_(dma),
      start_(start),
      base_(start),
      flights_(plan.kernel->windows.size()),
      semaphores_(plan.kernel->num_semaphores) {}

Wait ReplayProcess::Resume(int64_t now) {
  Wait wait;
  while (next_ < trace_.events.size()) {
    if (!Handle(trace_.events[next_], now, &wait)) return wait;
    ++next_;
  }
  ended_ = true;
  return {Wait::Kind::kDone, cycle(), -1};
}

bool ReplayProcess::Handle(const BundleEvent& e, int64_t now, Wait* wait) {
  const int64_t at = base_ + e.offset;
  switch (e.event.kind) {
    case Kind::kStart:
    case Kind::kStartDescriptor: {
      if (at > now) {
        *wait = {Wait::Kind::kUntil, at, -1};
        return false;
      }
      const int64_t id =
          dma_->Submit(at, {e.memory, core_, e.work, e.bytes, e.write});
      if (e.event.kind == Kind::kStart) {
        flights_[e.event.index][e.event.transfer] = {id, kUnknownCycle};
      } else {
        semaphores_.AddWhenDone(
            plan_.kernel->descriptors[e.event.index].semaphore, e.event.amount,
            id);
      }
      return true;
    }
    case Kind::kWait: {
      std::map<int64_t, Flight>& flights = flights_[e.event.index];
      while (!flights.empty() && flights.begin()->first <= e.event.transfer) {
        Flight& f = flights.begin()->second;
        f.Know(*dma_);
        if (f.done == kUnknownCycle) {
          *wait = {Wait::Kind::kTransfer, at, f.id};
          return false;
        }
        base_ = std::max(base_, f.done - e.offset);
        flights.erase(flights.begin());
      }
      return true;
    }
    case Kind::kWaitSemaphore: {
      int64_t when = at;
      if (!semaphores_.Await(e.event.index, e.event.amount, at, *dma_, &when,
                             wait)) {
        return false;
      }
      base_ += when - at;
      return true;
    }
    case Kind::kSignal:
      semaphores_.Add(e.event.index, e.event.amount);
      return true;
  }
  return true;
}

UnitUse ReplayProcess::use() const {
  UnitUse use;
  if (plan_.steps[core_].empty()) return use;
  use.Add(plan_.entry[core_].use, 1);
  use.Add(plan_.exit.use, 1);
  for (int32_t sort : plan_.steps[core_]) use.Add(plan_.sorts[sort].use, 1);
  return use;
}

BoundCycles ReplayProcess::bounds() const {
  const UnitUse u = use();
  BoundCycles bounds;
  const int64_t own = std::min(std::max(u.mxu, u.vpu()), trace_.cycles);
  bounds[u.mxu >= u.vpu() ? Bound::kMxu : Bound::kVpu] = own;
  bounds[Bound::kOverhead] = trace_.cycles - own;
  bounds[Bound::kHbm] = base_ - start_;
  return bounds;
}

std::string ReplayProcess::WhatItWaitsFor() const {
  const std::string who =
      absl::StrCat("core ", core_, " at event ", next_, " of kernel \"",
                   plan_.kernel->name, "\" waits for ");
  if (next_ >= trace_.events.size()) return who + "nothing";
  const isa::DmaEvent& e = trace_.events[next_].event;
  if (e.kind == Kind::kWaitSemaphore) {
    return absl::StrCat(who, "semaphore ", e.index, " to reach ", e.amount,
                        " bytes; it holds ", semaphores_.value(e.index));
  }
  return absl::StrCat(who, "the DMA of window ", e.index);
}

}  // namespace ptxla::sim
