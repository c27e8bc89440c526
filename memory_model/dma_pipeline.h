// How long a loop of load, compute and store with several buffers takes: the
// exact recurrence for one core that has the HBM to itself, with a jump over
// steady states. For scoring tile sizes; the simulator runs the real kernel.
//
// When step s-1 has ended, step s asks for the blocks of step s+ahead (the
// first `ahead` steps' are asked for at the start), waits until its own blocks
// have arrived and the output slot that it will fill is free, computes, and
// hands its result to the memory, which serves requests in order:
//
//   asked_(s+ahead) = end_(s-1)
//   begin_s         = max(end_(s-1), loaded_s, stored_(s-slots))
//   end_s           = begin_s + compute_s
//   loaded          = served + latency,  served = max(asked, memory free) +
//   busy
//
//   DmaPipeline p(/*latency=*/Picoseconds(600000));
//   p.Repeat({{load, compute, Picoseconds(0)}, {load, compute, store}}, 1000);
//   Picoseconds total = p.Finish();
#ifndef PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_
#define PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_

#include <array>
#include <cstdint>
#include <deque>
#include <vector>

#include "absl/types/span.h"
#include "base/units.h"

namespace ptxla::memory {

struct PipelineStep {
  Picoseconds load;     // HBM busy with the blocks that this step needs first
  Picoseconds compute;  // bundles of the step, its overhead included
  Picoseconds store;    // HBM busy with the blocks that this step finishes
};

class DmaPipeline {
 public:
  static constexpr int kMaxSlots = 8;
  // `slots`: buffers per output window; `ahead`: steps for which inputs are
  // asked for early, one less than their buffers. At most kMaxSlots each.
  explicit DmaPipeline(Picoseconds latency, int slots = 2, int ahead = 1);

  void Step(const PipelineStep& step) { Repeat({&step, 1}, 1); }
  // The steps of `period`, `times` over. Cost: the steps until the pipeline is
  // steady, usually a few periods.
  void Repeat(absl::Span<const PipelineStep> period, int64_t times);
  // End of the last step and of all stores. The pipeline takes no more steps.
  Picoseconds Finish();

  // No pipeline that takes `step` so many times ends before: the memory is busy
  // with all blocks, or one step runs after the other.
  static Picoseconds LeastTime(const PipelineStep& step, int64_t times,
                               Picoseconds latency);

  // Steps that were computed one by one, for tests of the jump.
  int64_t computed_steps() const { return computed_steps_; }

 private:
  void Start();
  // The oldest held step; the load of the newest is asked for, if it is new.
  void Advance(Picoseconds new_load);

  Picoseconds latency_;
  int slots_, ahead_;
  std::deque<PipelineStep> held_;  // steps whose loads are known, not yet run
  bool started_ = false;
  // Absolute times.
  Picoseconds end_, free_;
  std::array<Picoseconds, kMaxSlots + 1> loaded_{};  // of the held steps
  std::array<Picoseconds, kMaxSlots> stored_{};  // last stores, newest first
  int64_t computed_steps_ = 0;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_
