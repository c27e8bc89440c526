#include "isa/grid.h"

#include <algorithm>

#include "base/check.h"

namespace ptxla::isa {

int64_t BlockIndex(const WindowDim& dim, const std::vector<int64_t>& index) {
  if (dim.grid_dim < 0) return 0;
  const int64_t at = index[dim.grid_dim] / dim.grid_divisor;
  return dim.table.empty() ? at : dim.table[at];
}

Box BoxAt(const Window& window, const std::vector<int64_t>& index) {
  Box box;
  box.hbm_start = window.hbm_offset;
  box.bytes = window.inner_bytes;
  for (int d = 0; d < window.dims.size(); ++d) {
    const WindowDim& dim = window.dims[d];
    const int64_t begin = dim.origin + dim.Advance() * BlockIndex(dim, index);
    const int64_t lo = std::max<int64_t>(begin, 0);
    const int64_t hi = std::min(begin + dim.block, dim.extent);
    box.start[d] = lo;
    box.size[d] = std::max<int64_t>(hi - lo, 0);
    box.hbm_start += lo * dim.hbm_stride;
    box.vmem_start += (lo - begin) * dim.vmem_stride;
    box.bytes *= box.size[d];
  }
  if (box.bytes == 0) return box;
  box.chunk_bytes = window.inner_bytes;
  for (int d = static_cast<int>(window.dims.size()) - 1; d >= 0; --d) {
    if (box.size[d] != 1 && window.dims[d].hbm_stride != box.chunk_bytes) break;
    box.chunk_bytes *= box.size[d];
  }
  box.chunks = box.bytes / box.chunk_bytes;
  return box;
}

GridWalk::GridWalk(const Kernel& kernel, int core, int cores)
    : kernel_(kernel), first_(kernel.grid.size(), 0), bound_(kernel.grid) {
  if (const int d = kernel.megacore_dim; d >= 0) {
    first_[d] = kernel.grid[d] * core / cores;
    bound_[d] = kernel.grid[d] * (core + 1) / cores;
  } else if (core > 0) {
    num_steps_ = 0;
  }
  for (int d = 0; d < bound_.size(); ++d) num_steps_ *= bound_[d] - first_[d];
  index_ = first_;
  ComputeNext();
  CountChanges();
}

void GridWalk::CountChanges() {
  for (size_t i = 0; i < kernel_.windows.size() && num_steps_ > 0; ++i) {
    const Window& w = kernel_.windows[i];
    const bool tables =
        std::any_of(w.dims.begin(), w.dims.end(),
                    [](const WindowDim& dim) { return !dim.table.empty(); });
    if (!tables) continue;
    changes_.resize(kernel_.windows.size());
    std::vector<int32_t>& changes = changes_[i];
    changes.reserve(num_steps_);
    changes.push_back(0);
    while (step_ + 1 < num_steps_) {
      changes.push_back(changes.back() + (SameBlock(w, index_, next_) ? 0 : 1));
      Next();
    }
    Seek(0);
  }
}

std::vector<int64_t> GridWalk::IndexOf(int64_t step) const {
  std::vector<int64_t> index(bound_.size());
  for (int d = static_cast<int>(bound_.size()) - 1; d >= 0; --d) {
    const int64_t n = bound_[d] - first_[d];
    index[d] = first_[d] + step % n;
    step /= n;
  }
  return index;
}

void GridWalk::Seek(int64_t step) {
  CHECK(step >= 0 && step < num_steps_) << step << " of " << num_steps_;
  step_ = step;
  index_ = IndexOf(step);
  ComputeNext();
}

void GridWalk::Next() {
  ++step_;
  index_ = next_;
  ComputeNext();
}

void GridWalk::ComputeNext() {
  next_ = index_;
  for (int d = static_cast<int>(bound_.size()) - 1; d >= 0; --d) {
    if (++next_[d] < bound_[d]) return;
    next_[d] = first_[d];
  }
}

bool GridWalk::First(int dim) const {
  if (dim != kCoreShare) return index_[dim] == 0;
  const int shared = kernel_.megacore_dim;
  return index_[shared] == first_[shared];
}

bool GridWalk::Last(int dim) const {
  if (dim != kCoreShare) return index_[dim] == kernel_.grid[dim] - 1;
  const int shared = kernel_.megacore_dim;
  return index_[shared] == bound_[shared] - 1;
}

bool GridWalk::Holds(const When& when) const {
  switch (when.kind) {
    case When::Kind::kFirst:
      return First(when.dim);
    case When::Kind::kNotFirst:
      return !First(when.dim);
    case When::Kind::kLast:
      return Last(when.dim);
    case When::Kind::kNotLast:
      return !Last(when.dim);
  }
  return false;
}

bool GridWalk::SameBlock(const Window& w, const std::vector<int64_t>& a,
                         const std::vector<int64_t>& b) const {
  for (const WindowDim& dim : w.dims) {
    if (BlockIndex(dim, a) != BlockIndex(dim, b)) return false;
  }
  return true;
}

bool GridWalk::StartMoves(int window) const {
  const Window& w = kernel_.windows[window];
  const bool last = step_ + 1 >= num_steps_;
  if (w.direction == Direction::kIn) {
    const int ahead = Ahead(window);
    if (ahead == 1) return !last && !SameBlock(w, index_, next_);
    return step_ + ahead < num_steps_ &&
           BlockChanges(window, step_ + ahead) !=
               BlockChanges(window, step_ + ahead - 1);
  }
  return last || !SameBlock(w, index_, next_);
}

int64_t GridWalk::StartedTransfer(int window) const {
  if (!StartMoves(window)) return -1;
  const bool in = kernel_.windows[window].direction == Direction::kIn;
  return BlockChanges(window, in ? step_ + Ahead(window) : step_);
}

int64_t GridWalk::AwaitedTransfer(int window) const {
  const Window& w = kernel_.windows[window];
  const int64_t block = BlockChanges(window, step_);
  if (w.direction == Direction::kIn) return block;
  return std::max<int64_t>(block - w.slots, -1);
}

Box GridWalk::StartBox(int window) const {
  const Window& w = kernel_.windows[window];
  if (w.direction != Direction::kIn) return BoxAt(w, index_);
  const int ahead = Ahead(window);
  return ahead == 1 ? BoxAt(w, next_) : BoxOfStep(window, step_ + ahead);
}

Box GridWalk::CurrentBox(int window) const {
  return BoxAt(kernel_.windows[window], index_);
}

Box GridWalk::BoxOfStep(int window, int64_t step) const {
  return BoxAt(kernel_.windows[window], IndexOf(step));
}

int GridWalk::Ahead(int window) const {
  return std::max(1, kernel_.windows[window].slots - 1);
}

std::vector<int64_t> GridWalk::EntrySteps(int window) const {
  std::vector<int64_t> steps = {0};
  const int64_t end = std::min<int64_t>(Ahead(window), num_steps_);
  for (int64_t s = 1; s < end; ++s) {
    if (BlockChanges(window, s) != BlockChanges(window, s - 1)) {
      steps.push_back(s);
    }
  }
  return steps;
}

// The block changes when the innermost grid dimension that really moves the
// window (m) advances over a multiple of its divisor, or wraps.
int64_t GridWalk::BlockChanges(int window, int64_t step) const {
  if (!changes_.empty() && !changes_[window].empty()) {
    return changes_[window][step];
  }
  int m = -1;
  int64_t divisor = 1;
  for (const WindowDim& dim : kernel_.windows[window].dims) {
    const int g = dim.grid_dim;
    if (g <= m) continue;
    if (first_[g] / dim.grid_divisor != (bound_[g] - 1) / dim.grid_divisor) {
      m = g;
      divisor = dim.grid_divisor;
    }
  }
  if (m < 0) return 0;
  int64_t inner = 1;
  for (int d = m + 1; d < bound_.size(); ++d) inner *= bound_[d] - first_[d];
  const int64_t n = bound_[m] - first_[m];
  const int64_t moves = step / inner;
  const int64_t base = first_[m] / divisor;
  const int64_t per_cycle = (bound_[m] - 1) / divisor - base + 1;
  return moves / n * per_cycle + (first_[m] + moves % n) / divisor - base;
}

int64_t CountTransfers(const Kernel& kernel, int window, int core, int cores) {
  if (IsResident(kernel, kernel.windows[window])) return 0;
  const GridWalk walk(kernel, core, cores);
  if (walk.num_steps() == 0) return 0;
  return walk.BlockChanges(window, walk.num_steps() - 1) + 1;
}

}  // namespace ptxla::isa
