#include "memory_model/dma_pipeline.h"

#include <algorithm>
#include <array>

#include "base/check.h"

namespace ptxla::memory {

DmaPipeline::DmaPipeline(Picoseconds latency, int slots)
    : latency_(latency), slots_(slots) {
  CHECK(slots >= 1 && slots <= kMaxSlots);
}

void DmaPipeline::Advance(const PipelineStep& step, Picoseconds next_load) {
  if (!started_) {
    started_ = true;
    if (step.load.count() > 0) {
      free_ = step.load;
      loaded_ = free_ + latency_;
    }
  }
  const Picoseconds loaded = loaded_;
  if (next_load.count() > 0) {
    free_ = std::max(free_, end_) + next_load;
    loaded_ = free_ + latency_;
  }
  const Picoseconds begin =
      std::max({end_, loaded,
                step.store.count() > 0 ? stored_[slots_ - 1] : Picoseconds(0)});
  end_ = begin + step.compute;
  if (step.store.count() > 0) {
    free_ = std::max(free_, end_) + step.store;
    for (int i = kMaxSlots - 1; i > 0; --i) stored_[i] = stored_[i - 1];
    stored_[0] = free_ + latency_;
  }
  ++computed_steps_;
}

void DmaPipeline::Repeat(absl::Span<const PipelineStep> period, int64_t times) {
  if (period.empty() || times <= 0) return;
  std::array<int64_t, 2 + kMaxSlots> last{};
  Picoseconds last_end;
  bool have_last = false;
  for (int64_t i = 0; i < times; ++i) {
    for (const PipelineStep& step : period) {
      if (pending_) Advance(held_, step.load);
      held_ = step;
      pending_ = true;
    }
    // What the future depends on, relative to the end of the last step. A time
    // that has passed can delay nothing, however long ago it was.
    std::array<int64_t, 2 + kMaxSlots> state;
    const auto relative = [this](Picoseconds t) {
      return std::max<int64_t>(0, (t - end_).count());
    };
    state[0] = relative(free_);
    state[1] = relative(loaded_);
    for (int s = 0; s < kMaxSlots; ++s) state[2 + s] = relative(stored_[s]);
    if (have_last && state == last) {
      const int64_t left = times - 1 - i;
      const Picoseconds shift = (end_ - last_end) * left;
      end_ += shift;
      free_ += shift;
      loaded_ += shift;
      for (Picoseconds& t : stored_) t += shift;
      return;
    }
    last = state;
    last_end = end_;
    have_last = started_;  // the first load happens once
  }
}

Picoseconds DmaPipeline::Finish() {
  if (pending_) Advance(held_, Picoseconds(0));
  pending_ = false;
  Picoseconds done = end_;
  for (const Picoseconds& t : stored_) done = std::max(done, t);
  return done;
}

}  // namespace ptxla::memory
