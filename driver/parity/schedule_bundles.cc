#include "driver/parity/schedule_bundles.h"

#include <cstdint>
#include <variant>

#include "hlo_backend/lowering/kernel_overheads.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"

namespace ptxla::driver {
namespace {

// Cycles of a step's starts and waits and of the empty bundles at its end; 0:
// there are none, it is not in a loop.
int64_t FrameOf(const isa::Kernel& kernel) {
  int64_t cycles = 0;
  const isa::Block* last =
      kernel.step.empty() ? nullptr : kernel.step.back().block();
  for (int b = 0; last != nullptr && b < last->NumBundles(); ++b) {
    for (const isa::Instr& i : last->Bundle(b)) {
      if (i.op == isa::Opcode::kNop)
        cycles += isa::BundleCycles(last->Bundle(b));
    }
  }
  if (cycles == 0) return 0;
  for (const isa::Node& node : kernel.step) {
    const isa::Block* block = node.block();
    for (int b = 0; block != nullptr && b < block->NumBundles(); ++b) {
      for (const isa::Instr& i : block->Bundle(b)) {
        cycles +=
            i.op == isa::Opcode::kDmaStart || i.op == isa::Opcode::kDmaWait;
      }
    }
  }
  return cycles;
}

}  // namespace

ScheduleBundles CountScheduleBundles(const isa::Program& program,
                                     const chips::ChipSpec& chip) {
  const isa::MachineModel machine = isa::FromChipSpec(chip);
  const double sync = chip.Policy("step_sync").value_or(0);
  ScheduleBundles ours;
  ours.prologue = static_cast<double>(chip.core().program_prologue.count());
  for (const isa::Op& op : program.schedule) {
    const auto* call = std::get_if<isa::Call>(&op.action);
    if (call == nullptr) continue;
    const isa::Kernel& kernel = program.kernels[call->kernel];
    const isa::KernelTiming timing = isa::TimeKernel(kernel, machine);
    int copied = 0;
    for (const isa::Window& w : kernel.windows) {
      copied += kernel.args[w.arg].space == isa::Space::kHbm;
    }
    const auto windows = static_cast<double>(
        copied > 0 ? copied : static_cast<int>(kernel.windows.size()));
    const double window =
        static_cast<double>(chip.core().kernel_step_window.count());
    const double fixed = static_cast<double>(chip.core().kernel_step.count());
    const double entry =
        static_cast<double>(timing.entry.cycles + timing.exit.cycles);
    ours.entry = entry;
    // Only products wait for late flags.
    const bool product = kernel.work.mxu_flops > 0;
    int64_t frame = FrameOf(kernel);
    if (frame == 0) {
      frame = lowering::StreamStepOverhead(chip, static_cast<int>(windows), 2);
    }
    ours.step = product || copied == 0 ? fixed + window * windows
                                       : static_cast<double>(frame);
    ours.whole += entry;
    for (int core = 0; core < call->cores; ++core) {
      const auto counts = timing.StepsPerClass(kernel, core, call->cores);
      double cycles = 0, steps = 0;
      for (size_t c = 0; c < counts.size(); ++c) {
        cycles +=
            static_cast<double>(counts[c] * timing.classes[c].profile.cycles);
        steps += static_cast<double>(counts[c]);
      }
      const bool loop = steps > 1;
      const double waits = loop && copied > 0 && product ? steps * sync : 0;
      const double beside =
          !loop ? 0
                : steps * (copied > 0 ? ours.step : window * windows) + waits;
      ours.whole += cycles - waits;
      ours.body += cycles - beside;
    }
  }
  return ours;
}

}  // namespace ptxla::driver
