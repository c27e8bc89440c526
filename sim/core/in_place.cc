#include "sim/core/in_place.h"

#include "isa/kernel.h"

namespace ptxla::sim {
namespace {

// The memory behind a slice: a donated buffer is the one that it aliases.
isa::BufferSlice MemoryOfArg(const isa::Program& program,
                             isa::BufferSlice slice) {
  while (slice.buffer >= 0 && program.buffers[slice.buffer].alias >= 0) {
    slice.buffer = program.buffers[slice.buffer].alias;
  }
  return slice;
}

// Through windows: what they move are blocks of the whole array in order.
bool Moves(const isa::Kernel& kernel, int arg, bool write) {
  for (const isa::Window& w : kernel.windows) {
    const isa::Direction other =
        write ? isa::Direction::kIn : isa::Direction::kOut;
    if (w.arg == arg && w.direction != other) return true;
  }
  return false;
}

}  // namespace

std::vector<bool> InPlaceArgs(const isa::Program& program,
                              const isa::Call& call) {
  const isa::Kernel& kernel = program.kernels[call.kernel];
  std::vector<bool> in_place;
  const int args = static_cast<int>(call.args.size());
  for (int out = 0; out < args; ++out) {
    if (kernel.args[out].space != isa::Space::kHbm ||
        kernel.args[out].direction == isa::Direction::kIn ||
        !Moves(kernel, out, /*write=*/true)) {
      continue;
    }
    const isa::BufferSlice memory = MemoryOfArg(program, call.args[out]);
    for (int in = 0; in < args; ++in) {
      if (!(MemoryOfArg(program, call.args[in]) == memory) ||
          !Moves(kernel, in, /*write=*/false)) {
        continue;
      }
      in_place.resize(args, false);
      in_place[in] = in_place[out] = true;
    }
  }
  return in_place;
}

}  // namespace ptxla::sim
