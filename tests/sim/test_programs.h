// Small programs for tests of the simulator, made by hand.
#ifndef PTXLA_TESTS_SIM_TEST_PROGRAMS_H_
#define PTXLA_TESTS_SIM_TEST_PROGRAMS_H_

#include <random>
#include <string>
#include <vector>

#include "chips/topology.h"
#include "isa/program.h"

namespace ptxla::sim {

inline chips::Slice TestSlice(absl::string_view name) {
  return *chips::ParseSlice(name);
}

// A chip with one number changed.
inline chips::Slice TestSlice(absl::string_view name, absl::string_view key,
                              double factor) {
  const chips::ChipSpec chip =
      *chips::ParseSlice(name)->chip.WithScaled(key, factor);
  chips::SliceOptions options;
  options.chip = &chip;
  return *chips::ParseSlice(name, options);
}

struct StreamKernel {
  std::vector<int64_t> grid = {16};
  int64_t block_bytes = 65536;  // per window and step
  int inputs = 1;
  int outputs = 1;
  int compute = 100;  // cycles of nops in a step
  int vadds = 0;      // bundles of one vadd each
  // Grid dimension that moves each window; -1: never. Default: all dimensions
  // make one long sequence of blocks in the last one.
  std::vector<int> moves_with = {};
  int64_t ragged_bytes = 0;  // cut off the last block of dimension 0
  bool parallel = false;     // megacore splits dimension 0
  // Ask for the next blocks before waiting for those of the step, as compiled
  // kernels do.
  bool ask_first = true;
};

inline isa::Instr Dma(isa::Opcode op, int window) {
  isa::Instr i;
  i.op = op;
  i.imm = window;
  return i;
}

// Ask for the next inputs, wait for the inputs and the output slots, compute,
// write back.
inline isa::Kernel MakeStreamKernel(const StreamKernel& s) {
  isa::Kernel k;
  k.name = "stream";
  k.grid = s.grid;
  if (s.parallel) k.megacore_dim = 0;
  isa::Block entry, step, exit;
  const auto ask = [&] {
    for (int w = 0; w < s.inputs; ++w) {
      step.Add({Dma(isa::Opcode::kDmaStart, w)});
    }
  };
  if (s.ask_first) ask();
  const int windows = s.inputs + s.outputs;
  for (int w = 0; w < windows; ++w) {
    const bool input = w < s.inputs;
    const int dim = w < static_cast<int>(s.moves_with.size())
                        ? s.moves_with[w]
                        : static_cast<int>(s.grid.size()) - 1;
    isa::WindowDim d;
    const int64_t unit = 512;
    d.block = s.block_bytes / unit;
    d.extent = d.block * (dim < 0 ? 1 : s.grid[dim]) -
               (dim == 0 ? s.ragged_bytes / unit : 0);
    d.hbm_stride = unit;
    d.vmem_stride = unit;
    d.grid_dim = dim;
    isa::Window window;
    window.arg = w;
    window.direction = input ? isa::Direction::kIn : isa::Direction::kOut;
    window.dims = {d};
    window.inner_bytes = unit;
    window.slot_bytes = s.block_bytes;
    k.windows.push_back(window);
    isa::KernelArg arg;
    arg.name = std::string(input ? "in" : "out") + std::to_string(w);
    arg.direction = window.direction;
    arg.bytes = d.extent * unit;
    k.args.push_back(arg);
    k.work.hbm_bytes += arg.bytes;
    if (input) entry.Add({Dma(isa::Opcode::kDmaStart, w)});
    step.Add({Dma(isa::Opcode::kDmaWait, w)});
    if (!input) exit.Add({Dma(isa::Opcode::kDmaWait, w)});
  }
  if (!s.ask_first) ask();
  for (int i = 0; i < s.vadds; ++i) {
    isa::Instr add;
    add.op = isa::Opcode::kVaddF32;
    add.dst = 1;
    add.a = 2;
    add.b = 3;
    step.Add({add});
  }
  if (s.compute > 0) step.AddNop(s.compute);
  for (int w = s.inputs; w < windows; ++w) {
    step.Add({Dma(isa::Opcode::kDmaStart, w)});
  }
  if (entry.NumBundles() == 0) entry.AddNop(1);
  if (exit.NumBundles() == 0) exit.AddNop(1);
  k.entry.push_back(std::move(entry));
  k.step.push_back(std::move(step));
  k.exit.push_back(std::move(exit));
  isa::LayoutVmem(&k);
  return k;
}

inline isa::OpInfo Info(const std::string& name, const std::string& opcode) {
  isa::OpInfo info;
  info.name = name;
  info.opcode = opcode;
  return info;
}

// Adds a call of a new kernel with buffers of its own.
inline void AddKernel(isa::Program* p, const isa::Kernel& kernel, int cores = 1,
                      isa::Schedule* schedule = nullptr) {
  isa::Call call;
  call.kernel = static_cast<int>(p->kernels.size());
  call.cores = cores;
  p->kernels.push_back(kernel);
  for (const isa::KernelArg& arg : kernel.args) {
    isa::Buffer b;
    b.id = static_cast<int>(p->buffers.size());
    b.name = arg.name;
    b.bytes = arg.bytes;
    b.space = arg.space;
    p->buffers.push_back(b);
    call.args.push_back({b.id, 0});
  }
  (schedule == nullptr ? &p->schedule : schedule)
      ->push_back(
          {Info("fusion." + std::to_string(call.kernel), "fusion"), call});
}

inline int AddBuffer(isa::Program* p, int64_t bytes, isa::Space space) {
  isa::Buffer b;
  b.id = static_cast<int>(p->buffers.size());
  b.name = "b" + std::to_string(b.id);
  b.bytes = bytes;
  b.space = space;
  p->buffers.push_back(b);
  return b.id;
}

inline void AddCopyStart(isa::Program* p, int id, int64_t bytes) {
  isa::CopyStart copy;
  copy.id = id;
  copy.bytes = bytes;
  copy.from = {AddBuffer(p, bytes, isa::Space::kHbm), 0};
  copy.to = {AddBuffer(p, bytes, isa::Space::kVmem), 0};
  p->schedule.push_back(
      {Info("copy-start." + std::to_string(id), "copy-start"), copy});
}

inline void AddCopyDone(isa::Program* p, int id) {
  isa::CopyDone done;
  done.id = id;
  p->schedule.push_back(
      {Info("copy-done." + std::to_string(id), "copy-done"), done});
}

// A seeded random kernel: one to three grid dimensions, windows that move with
// any of them, ragged ends, compute- and memory-bound steps.
inline StreamKernel RandomStream(std::mt19937* random) {
  const auto upto = [&](int n) { return static_cast<int>((*random)() % n); };
  StreamKernel s;
  s.grid.clear();
  const int dims = 1 + upto(3);
  for (int d = 0; d < dims; ++d) s.grid.push_back(1 + upto(9));
  s.block_bytes = 512LL * (1 + upto(1000));
  s.inputs = 1 + upto(3);
  s.outputs = upto(3);
  s.compute = upto(2000);
  s.vadds = upto(300);
  s.ask_first = upto(4) > 0;
  for (int w = 0; w < s.inputs + s.outputs; ++w) {
    s.moves_with.push_back(upto(dims + 1) - 1);
  }
  if (upto(2) == 0) s.ragged_bytes = 512LL * upto(s.block_bytes / 512);
  return s;
}

// A kernel beside an all-reduce of so many bytes.
inline isa::Program AllReduceBeside(int64_t bytes, int partitions) {
  isa::Program p;
  p.num_partitions = partitions;
  isa::CollectiveStart start;
  start.id = 7;
  start.bytes = bytes;
  start.reduction = isa::Reduction::kSum;
  p.schedule.push_back({Info("all-reduce-start", "all-reduce-start"), start});
  AddKernel(&p, MakeStreamKernel({}));
  isa::CollectiveDone done;
  done.id = 7;
  p.schedule.push_back({Info("all-reduce-done", "all-reduce-done"), done});
  return p;
}

}  // namespace ptxla::sim

#endif  // PTXLA_TESTS_SIM_TEST_PROGRAMS_H_
