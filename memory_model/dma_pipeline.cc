#include "memory_model/dma_pipeline.h"

#include <algorithm>

#include "base/check.h"

namespace ptxla::memory {

DmaPipeline::DmaPipeline(Picoseconds latency, int slots, int ahead)
    : latency_(latency), slots_(slots), ahead_(ahead) {
  CHECK(slots >= 1 && slots <= kMaxSlots);
  CHECK(ahead >= 1 && ahead <= kMaxSlots);
}

// Asks for the blocks of the first steps.
void DmaPipeline::Start() {
  started_ = true;
  const size_t first = std::min<size_t>(held_.size(), ahead_);
  for (size_t k = 0; k < first; ++k) {
    if (held_[k].load.count() == 0) continue;
    free_ += held_[k].load;
    loaded_[k] = free_ + latency_;
  }
}

void DmaPipeline::Advance(Picoseconds new_load) {
  const PipelineStep step = held_.front();
  const Picoseconds loaded = loaded_[0];
  if (new_load.count() > 0) {
    free_ = std::max(free_, end_) + new_load;
    loaded_[held_.size() - 1] = free_ + latency_;
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
  for (int i = 0; i < kMaxSlots; ++i) loaded_[i] = loaded_[i + 1];
  loaded_[kMaxSlots] = Picoseconds(0);
  held_.pop_front();
  ++computed_steps_;
}

void DmaPipeline::Repeat(absl::Span<const PipelineStep> period, int64_t times) {
  if (period.empty() || times <= 0) return;
  // What the future depends on, relative to the end of the last step: of the
  // loads those of held steps, of the stores those whose slots are used again.
  using State = std::array<int64_t, 1 + 2 * kMaxSlots>;
  const int parts = 1 + ahead_ + slots_;
  State last{};
  Picoseconds last_end;
  bool have_last = false;
  for (int64_t i = 0; i < times; ++i) {
    for (const PipelineStep& step : period) {
      held_.push_back(step);
      if (static_cast<int>(held_.size()) <= ahead_) continue;
      if (!started_) Start();
      Advance(step.load);
    }
    // A time that has passed can delay nothing, however long ago it was.
    State state;
    const auto relative = [this](Picoseconds t) {
      return std::max<int64_t>(0, (t - end_).count());
    };
    int part = 0;
    state[part++] = relative(free_);
    for (int s = 0; s < ahead_; ++s) state[part++] = relative(loaded_[s]);
    for (int s = 0; s < slots_; ++s) state[part++] = relative(stored_[s]);
    if (have_last &&
        std::equal(state.begin(), state.begin() + parts, last.begin())) {
      const int64_t left = times - 1 - i;
      const Picoseconds shift = (end_ - last_end) * left;
      end_ += shift;
      free_ += shift;
      for (Picoseconds& t : loaded_) t += shift;
      for (Picoseconds& t : stored_) t += shift;
      return;
    }
    last = state;
    last_end = end_;
    // The first loads happen once, and the steps held are those of the period.
    have_last =
        started_ && (i + 1) * static_cast<int64_t>(period.size()) > ahead_;
  }
}

Picoseconds DmaPipeline::LeastTime(const PipelineStep& step, int64_t times,
                                   Picoseconds latency) {
  if (times <= 0) return Picoseconds(0);
  Picoseconds memory = (step.load + step.store) * times;
  if (memory.count() > 0) memory += latency;
  Picoseconds steps = step.compute * times;
  if (step.load.count() > 0) steps += step.load + latency;
  if (step.store.count() > 0) steps += step.store + latency;
  return std::max(memory, steps);
}

Picoseconds DmaPipeline::Finish() {
  if (!started_) Start();
  while (!held_.empty()) Advance(Picoseconds(0));
  Picoseconds done = end_;
  for (const Picoseconds& t : stored_) done = std::max(done, t);
  return done;
}

}  // namespace ptxla::memory
