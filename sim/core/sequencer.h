// Walks the schedule of a program on one device: starts and awaits copies and
// collectives, repeats loops, and says when a kernel is to run. An engine calls
// Next() and lets time pass as the action says.
//
// A loop whose iteration begins and ends with nothing under way is walked once;
// the others stand for it (OpEvent::repeat). Collectives use the links one
// after another; each draws its bytes from HBM at an even rate while it runs.
#ifndef PTXLA_SIM_CORE_SEQUENCER_H_
#define PTXLA_SIM_CORE_SEQUENCER_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "base/progress.h"
#include "isa/program.h"
#include "sim/core/bundle_trace.h"
#include "sim/core/dma_engine.h"
#include "sim/core/kernel_cache.h"
#include "sim/core/program_data.h"
#include "sim/core/recorder.h"

namespace ptxla::sim {

struct Action {
  enum class Kind : uint8_t {
    kUntil,      // call Next at `cycle`
    kTransfer,   // call Next when the port knows the end of `transfer`
    kRunKernel,  // run `plan` from now on, call KernelEnded, then Next
    kDone,       // the program has ended
  };
  Kind kind = Kind::kDone;
  int64_t cycle = 0;
  int64_t transfer = -1;
  const KernelPlan* plan = nullptr;
  const std::vector<BundleTrace>* traces = nullptr;  // per core; or null
  bool collective = false;  // kUntil: a collective ends then
};

// How a kernel takes its time.
enum class KernelDetail : uint8_t {
  kRoofline,  // the longest of flops and bytes
  kWhole,     // the cached result of the kernel alone; beside copies as a flow,
              // or as kEvents if it has few steps
  kEvents,    // the engine runs it event by event
  kBundles,   // as kEvents, from bundles executed on data
};

// The process of one core for a kRunKernel.
std::unique_ptr<CoreProcess> MakeProcess(const Action& action, int core,
                                         DmaPort* port, int64_t start);

class Sequencer {
 public:
  // Everything outlives the sequencer.
  Sequencer(const isa::Program& program, const DeviceModel& device,
            KernelDetail detail, bool fold_loops, DmaEngine* dma,
            KernelCache* cache, Recorder* recorder,
            ProgramData* data = nullptr);

  // Where copies are handed over, and what the ids of Action::transfer belong
  // to; the DMA engine itself unless set.
  void set_port(DmaPort* port) { port_ = port; }

  // `dma` stands at `now`.
  absl::StatusOr<Action> Next(int64_t now);
  // The kernel of the last kRunKernel took result.cycles.
  void KernelEnded(const KernelResult& result);

  // "copy 3 (copy-start.7)", for errors.
  std::string WhatItWaitsFor() const;

 private:
  struct Frame {
    const isa::Schedule* schedule = nullptr;
    size_t next = 0;
    const isa::Op* op = nullptr;       // of a loop
    const isa::While* loop = nullptr;  // of a condition or a body
    bool in_body = false;
    int64_t iteration = 0;
    // At the start of the iteration.
    bool idle = false;
    int64_t start = 0;
    size_t first_op = 0, first_transfer = 0;
  };
  enum class Pending : uint8_t {
    kNone,
    kPrologue,
    kKernel,       // until its end is reached, its result is known
    kFluidKernel,  // a kernel beside copies; shares HBM with them
    kCopy,
    kCollective,
    kHost,
  };

  absl::StatusOr<Action> Finish(int64_t now);  // of pending_
  absl::Status Begin(const isa::Op& op, int64_t now);
  absl::Status BeginCall(const isa::Call& call, int64_t now);
  absl::StatusOr<bool> FluidEnded(int64_t now);
  absl::StatusOr<ici::CollectiveCost> CostOf(const isa::CollectiveStart& start);
  void BeginCopy(const isa::Op& op, const isa::CopyStart& copy, int64_t now);
  absl::Status BeginCollective(const isa::Op& op,
                               const isa::CollectiveStart& start, int64_t now);
  // The next entry to begin, or nullptr: then `*now` is either later, because
  // iterations were skipped, or the program has ended.
  absl::StatusOr<const isa::Op*> NextOp(int64_t* now);
  absl::Status EndOfSchedule(int64_t* now);
  // The iterations that are left, as the one since the frame's start.
  absl::Status FoldRest(Frame* frame, int64_t* now);
  void BeginIteration(Frame* frame, int64_t now);
  bool GoesOn(const Frame& frame) const;
  void Record(int64_t end);
  bool NothingUnderWay(int64_t now) const;

  const isa::Program& program_;
  const DeviceModel& device_;
  const KernelDetail detail_;
  const bool fold_loops_;
  DmaEngine* dma_;
  DmaPort* port_;
  ProgramData* data_;  // kBundles only
  KernelCache* cache_;
  Recorder* recorder_;
  Activity activity_;

  std::vector<Frame> frames_;
  Pending pending_ = Pending::kPrologue;
  OpEvent current_;
  Action run_;  // kRunKernel to hand out
  std::vector<BundleTrace> traces_;
  bool run_kernel_ = false;
  int64_t until_ = 0;
  struct FluidJob {
    int core;
    int64_t transfer;
  };
  std::vector<FluidJob> jobs_;  // of a fluid kernel, and …
  int64_t fluid_rate_ = -1;     // … the core rate that it runs at
  size_t awaited_ = 0;          // in recorder_->transfers
  int64_t awaited_transfer_ = -1;
  struct Outstanding {
    size_t event;      // in recorder_->transfers
    int64_t transfer;  // of dma_; -1: a collective
  };
  absl::flat_hash_map<int, Outstanding> outstanding_;
  int64_t links_free_ = 0;
  // Costs of collectives, by what decides them and by op.
  absl::flat_hash_map<uint64_t, ici::CollectiveCost> costs_;
  absl::flat_hash_map<const isa::CollectiveStart*, uint64_t> cost_keys_;
};

}  // namespace ptxla::sim

#endif  // PTXLA_SIM_CORE_SEQUENCER_H_
