// EmitMovement: instructions that move data and compute nothing.
#include <utility>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "hlo_backend/lowering/movement/box_mover.h"
#include "hlo_backend/lowering/movement/gather.h"
#include "hlo_backend/lowering/movement/lane_reverse.h"
#include "hlo_backend/lowering/movement/lane_transpose.h"
#include "hlo_backend/lowering/movement/minor_transpose.h"
#include "hlo_backend/lowering/movement/mover.h"
#include "hlo_backend/lowering/movement/plane_concat.h"
#include "hlo_backend/lowering/movement/plane_slice.h"
#include "hlo_backend/lowering/movement/random_bits.h"
#include "hlo_backend/lowering/movement/reflow.h"
#include "hlo_backend/lowering/movement/row_transpose.h"
#include "hlo_backend/lowering/movement/scatter.h"
#include "hlo_backend/lowering/movement/update_box.h"
#include "hlo_backend/lowering/movement/update_slice.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/timing.h"

namespace ptxla::lowering {
namespace {

// Windows of a box have what the slice takes; those of rows often the operand.
// An operand in VMEM has no window: rows are read where they lie.
bool TakesLittle(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kSlice ||
      i.operand(0)->shape().memory_space() == hlo::kMemoryVmem) {
    return false;
  }
  const auto from = PhysicalArray::Of(i.operand(0)->shape());
  const auto to = PhysicalArray::Of(i.shape());
  return from.ok() && to.ok() && from->bytes() >= 2 * to->bytes();
}

// A line is tried as well where a reshape's code takes longer: below that,
// little can be gained for the time that it takes to make a kernel. Cycles;
// ASSUMED.
constexpr int64_t kWorthALine = 4096;

// Cycles of a core, memory apart.
int64_t CodeCycles(const KernelContext& context, const isa::Kernel& kernel) {
  return isa::TimeKernel(kernel, context.model)
      .UnstalledCycles(kernel, 0, context.model.cores);
}

// `kernel`, or a line if that takes fewer cycles.
isa::Kernel FasterOfBoth(const KernelContext& context,
                         const hlo::Instruction& i, isa::Kernel kernel) {
  if (i.opcode() != hlo::Opcode::kReshape || context.stage) return kernel;
  const int64_t cycles = CodeCycles(context, kernel);
  if (cycles < kWorthALine) return kernel;
  auto line = EmitReflow(context, i);
  return line.ok() && CodeCycles(context, *line) < cycles ? *std::move(line)
                                                          : kernel;
}

// By itself: a kernel of its own is faster than a line in a stage.
bool MovesInSteps(KernelContext context, const hlo::Instruction& i) {
  context.stage = false;
  return EmitMover(context, i).ok();
}

}  // namespace

absl::StatusOr<isa::Kernel> EmitMovement(const KernelContext& context,
                                         const hlo::Instruction& i) {
  if (IsMinorTranspose(i)) return EmitMinorTranspose(context, i);
  if (IsLaneTranspose(i)) return EmitLaneTranspose(context, i);
  if (IsLaneReverse(i)) {
    auto reversed = EmitLaneReverse(context, i);
    if (reversed.ok()) return reversed;
  }
  if (hlo::IsDataMovement(i) || i.opcode() == hlo::Opcode::kFusion) {
    // (What another stage made lies in VMEM: no window of it is fetched.)
    if (TakesLittle(i) && !context.stage) {
      auto box = EmitBoxMover(context, i);
      if (box.ok()) return box;
    }
    if (JoinsPackedRows(i)) return EmitRowTranspose(context, i);
    absl::StatusOr<isa::Kernel> kernel = EmitMover(context, i);
    // Where no run of result rows comes from a run of operand rows.
    if (!kernel.ok() && IsRowTranspose(i)) return EmitRowTranspose(context, i);
    if (!kernel.ok() && IsPlaneConcat(i)) return EmitPlaneConcat(context, i);
    if (!kernel.ok() && IsPlaneSlice(i)) return EmitPlaneSlice(context, i);
    if (!kernel.ok()) {
      auto box = EmitBoxMover(context, i);
      if (box.ok()) return FasterOfBoth(context, i, *std::move(box));
      if (!context.stage || !MovesInSteps(context, i)) {
        auto line = EmitReflow(context, i);
        if (line.ok()) return line;
      }
    }
    for (int registers = kMoverRegisters / 4;
         registers > 0 && absl::IsResourceExhausted(kernel.status());
         registers /= 4) {
      kernel = EmitMover(context, i, registers);
    }
    if (absl::IsResourceExhausted(kernel.status())) {
      kernel = EmitMover(context, i, 1, /*spills=*/true);
    }
    if (!kernel.ok()) return kernel;
    return FasterOfBoth(context, i, *std::move(kernel));
  }
  switch (i.opcode()) {
    case hlo::Opcode::kGather:
      return EmitGather(context, i);
    case hlo::Opcode::kScatter:
      return EmitScatter(context, i);
    case hlo::Opcode::kRngBitGenerator:
      return EmitRandomBits(context, i);
    case hlo::Opcode::kDynamicSlice:
      return IsPlaneSlice(i) ? EmitPlaneSlice(context, i)
                             : EmitBoxMover(context, i);
    case hlo::Opcode::kDynamicUpdateSlice:
      return IsTileUpdate(i) ? EmitUpdateSlice(context, i)
                             : EmitUpdateBox(context, i);
    default:
      break;
  }
  return absl::UnimplementedError(absl::StrCat(
      "%", i.name(), " (", hlo::OpcodeName(i.opcode()), ") is not lowered"));
}

}  // namespace ptxla::lowering
