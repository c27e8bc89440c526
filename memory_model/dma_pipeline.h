// How long a double-buffered loop of load, compute and store takes: the exact
// recurrence for one core that has the HBM to itself, with a jump over steady
// states. For scoring tile sizes; the simulator runs the real kernel.
//
// When step s-1 has ended, step s asks for the blocks of step s+1, waits until
// its own blocks have arrived and the output slot that it will fill is free,
// computes, and hands its result to the memory, which serves requests in order:
//
//   asked_(s+1) = end_(s-1)
//   begin_s     = max(end_(s-1), loaded_s, stored_(s-slots))
//   end_s       = begin_s + compute_s
//   loaded      = served + latency,  served = max(asked, memory free) + busy
//
//   DmaPipeline p(/*latency=*/Picoseconds(600000));
//   p.Repeat({{load, compute, Picoseconds(0)}, {load, compute, store}}, 1000);
//   Picoseconds total = p.Finish();
#ifndef PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_
#define PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_

#include <cstdint>
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
  // `slots`: buffers per output window, at most 4.
  explicit DmaPipeline(Picoseconds latency, int slots = 2);

  void Step(const PipelineStep& step) { Repeat({&step, 1}, 1); }
  // The steps of `period`, `times` over. Cost: the steps until the pipeline is
  // steady, usually a few periods.
  void Repeat(absl::Span<const PipelineStep> period, int64_t times);
  // End of the last step and of all stores. The pipeline takes no more steps.
  Picoseconds Finish();

  // Steps that were computed one by one, for tests of the jump.
  int64_t computed_steps() const { return computed_steps_; }

 private:
  static constexpr int kMaxSlots = 4;
  void Advance(const PipelineStep& step, Picoseconds next_load);

  Picoseconds latency_;
  int slots_;
  bool pending_ = false;  // a step whose successor is not known yet
  PipelineStep held_;
  bool started_ = false;
  // Absolute times.
  Picoseconds end_, free_, loaded_;
  Picoseconds stored_[kMaxSlots];  // of the last stores, newest first
  int64_t computed_steps_ = 0;
};

}  // namespace ptxla::memory

#endif  // PTXLA_MEMORY_MODEL_DMA_PIPELINE_H_
