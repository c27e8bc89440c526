// Where the windows of a kernel are at each grid step: the one place that
// decides which DMA transfers happen, for timing, simulator and interpreter.
//
//   GridWalk walk(kernel, /*core=*/0, /*cores=*/1);
//   for (int64_t s = 0; s < walk.num_steps(); ++s) {
//     walk.Seek(s);
//     if (walk.StartMoves(w)) bytes += walk.StartBox(w).bytes;
//   }
#ifndef PTXLA_ISA_GRID_H_
#define PTXLA_ISA_GRID_H_

#include <array>
#include <cstdint>
#include <vector>

#include "isa/kernel.h"

namespace ptxla::isa {

// A clamped box of a window: what one transfer moves.
struct Box {
  int64_t bytes = 0;
  // Longest contiguous runs on the argument's side: `chunks` runs of
  // `chunk_bytes` (chunks * chunk_bytes == bytes), what HBM efficiency needs.
  int64_t chunks = 0;
  int64_t chunk_bytes = 0;
  int64_t hbm_start = 0;   // first byte, relative to the argument
  int64_t vmem_start = 0;  // first byte, relative to the slot
  std::array<int64_t, kMaxWindowDims> start{};  // first unit inside the extent
  std::array<int64_t, kMaxWindowDims> size{};   // units, clamped
  bool empty() const { return bytes == 0; }
};

// The block in which the window is in one of its dimensions.
int64_t BlockIndex(const WindowDim& dim, const std::vector<int64_t>& index);
// The box of `window` at the given grid indices.
Box BoxAt(const Window& window, const std::vector<int64_t>& index);

class GridWalk {
 public:
  // `kernel` must outlive the walk.
  explicit GridWalk(const Kernel& kernel, int core = 0, int cores = 1);

  int64_t num_steps() const { return num_steps_; }  // of this core
  // Cores share a dimension of the grid.
  bool IsShared() const { return kernel_.megacore_dim >= 0; }
  int64_t step() const { return step_; }
  void Seek(int64_t step);  // 0 <= step < num_steps
  // Advances by one; cheap. Only if step + 1 < num_steps.
  void Next();

  const std::vector<int64_t>& index() const { return index_; }
  // Indices of dimension d that this core walks: [lower, upper).
  int64_t lower(int dim) const { return first_[dim]; }
  int64_t upper(int dim) const { return bound_[dim]; }
  // Of the whole grid; of kCoreShare, of this core's share.
  bool First(int dim) const;
  bool Last(int dim) const;
  bool Holds(const When& when) const;

  // Steps ahead for which an input is fetched: one with one or two slots.
  int Ahead(int window) const;
  // Does `dma.start w` in this step move data? (input: step + Ahead exists and
  // has another block than the step before it; output: this is the last step or
  // the next has another)
  bool StartMoves(int window) const;
  // The box that it moves: of step + Ahead for an input, of this for an
  // output. Only if StartMoves.
  Box StartBox(int window) const;
  // The box of this step, and of any.
  Box CurrentBox(int window) const;
  Box BoxOfStep(int window, int64_t step) const;
  // The steps whose blocks `dma.start w` of an input fetches in entry: the
  // first, and of the next ones those with another block than the one before.
  std::vector<int64_t> EntrySteps(int window) const;
  // Number of the transfer that `dma.start w` begins in this step: blocks of a
  // window are numbered 0, 1, ... in the order in which the core meets them; -1
  // if it moves nothing. In entry an input starts those of EntrySteps.
  int64_t StartedTransfer(int window) const;
  // Number of the last transfer that must be over for `dma.wait w` of this step
  // to return (numbers are in order, so all before it too); -1: none. In exit
  // an output waits for CountTransfers() - 1, in entry an input for 0.
  int64_t AwaitedTransfer(int window) const;
  // Times that the window's block index changed between the core's first step
  // and `step`. O(1); windows with tables are counted once, at the start.
  int64_t BlockChanges(int window, int64_t step) const;

 private:
  bool SameBlock(const Window& w, const std::vector<int64_t>& a,
                 const std::vector<int64_t>& b) const;
  std::vector<int64_t> IndexOf(int64_t step) const;
  void ComputeNext();
  void CountChanges();

  const Kernel& kernel_;
  std::vector<int64_t> first_;  // inclusive lower bounds of this core
  std::vector<int64_t> bound_;  // exclusive upper bounds
  int64_t num_steps_ = 1;
  int64_t step_ = 0;
  std::vector<int64_t> index_;
  std::vector<int64_t> next_;
  // Of windows with tables: changes before each step; empty for others.
  std::vector<std::vector<int32_t>> changes_;
};

// How many transfers a window makes over the whole walk of one core.
int64_t CountTransfers(const Kernel& kernel, int window, int core = 0,
                       int cores = 1);

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_GRID_H_
