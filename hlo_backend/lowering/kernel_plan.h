// What a kernel emitter gets and gives, the frame that every kernel shares, and
// the choice between tilings.
//
// An emitter (loop fusion, reduction, transpose, product ...) describes its
// candidates as Tilings: grid, windows, bytes per step, and a function that
// writes the code of one step. ChooseTiling scores them with the static timing
// of the step and the DMA pipeline recurrence (memory_model/dma_pipeline.h);
// FrameKernel makes bundles for the winner only:
//
//   entry   kernel entry bundles, dma.start of every input window
//   step    step overhead bundles, starts and waits, the body, output starts
//   exit    waits for the last stores
//
//   KernelContext context{chip, model, &cache};
//   std::vector<Tiling> tilings = ...;
//   ASSIGN_OR_RETURN(size_t best, ChooseTiling(context, tilings));
//   ASSIGN_OR_RETURN(isa::Kernel k, FrameKernel(context, tilings[best]));
#ifndef PTXLA_HLO_BACKEND_LOWERING_KERNEL_PLAN_H_
#define PTXLA_HLO_BACKEND_LOWERING_KERNEL_PLAN_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "chips/chip_spec.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/emit.h"
#include "isa/kernel.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

struct TilingLog;  // tiling_log.h

// What does not change during one Lower() call.
struct KernelContext {
  const chips::ChipSpec& chip;
  const isa::MachineModel& model;
  codegen::BlockCache* cache;
  // What ChooseTiling and the search for product tiles looked at, or null.
  TilingLog* log = nullptr;
  // The kernel becomes a stage of another (stages/stage_linker.h): one step,
  // and only the code that computes. That other starts and waits for windows.
  bool stage = false;
};

// The unroll rule of vector loops, CALIBRATED: a loop body holds as many copies
// of the formula as load about this many registers in all
// (`policy.unroll_registers` of the chip, 32: published v6e timings of add and
// exp), fewer where they would need more registers than there are. Bodies are
// list-scheduled and drained each iteration. The longer drain of the EUP is
// spread over more copies (`policy.unroll_registers_eup`).
struct UnrollPolicy {
  int loaded_registers = 32;
  int loaded_registers_eup = 32;
  static UnrollPolicy Of(const chips::ChipSpec& chip);
  // Copies of a formula that loads `loads` registers. The scheduler keeps
  // within the registers that there are; where it cannot, the caller halves.
  int Copies(double loads) const;
};

// One way to cut a kernel into grid steps.
struct Tiling {
  std::vector<int64_t> grid;         // outer to inner; empty: one step
  std::vector<isa::KernelArg> args;  // in binding order
  std::vector<isa::Window> windows;  // arg, dims, strides, slot_bytes set
  std::vector<isa::DmaDescriptor> descriptors;
  int num_semaphores = 0;
  int64_t scratch_bytes = 0;
  // Values beyond the registers may go to memory, behind the scratch: for when
  // narrower code does not help.
  bool spills = false;
  // Code before the first step: constants in scratch, accumulators. May be
  // null.
  std::function<absl::Status(codegen::CodeBuilder&)> entry;
  // The code between the waits for inputs and the start of outputs.
  std::function<absl::Status(codegen::CodeBuilder&)> body;
  std::string note;  // "tile 512x256, unroll 32"
  // A loop over streams (AddStreamBuffers): its steps are shorter than those of
  // other grids.
  bool streams = false;
  // Its steps wait for the bytes of their blocks alone, not for flags and
  // queues (`policy.step_sync`): no such wait is seen between heads (C-SDPA).
  bool steps_run_on = false;
  // All its windows are of arrays of one dimension.
  bool flat = false;
  // A grid dimension that two cores may split, or -1.
  int megacore_dim = -1;
  isa::KernelWork work;
};

// Label of the empty bundles that stand for the scalar code around a kernel's
// own: addresses, indices of the grid, branches.
inline constexpr char kControlLabel[] = "overhead";

// Grid steps of the core that has most of them.
int64_t StepsOfCore(const Tiling& tiling, int cores);
// Bytes of VMEM that slots and scratch of the tiling take.
int64_t VmemBytes(const KernelContext& context, const Tiling& tiling);
// The chip's scoped limit, less what the frame needs.
int64_t VmemBudget(const KernelContext& context);

struct TilingScore {
  Picoseconds time;  // whole kernel, alone on the machine
  Cycles step;       // one step without DMA stalls, overhead included
  int64_t vmem_bytes = 0;
};
// ResourceExhausted if it does not fit VMEM, or its code not the registers.
absl::StatusOr<TilingScore> Score(const KernelContext& context,
                                  const Tiling& tiling);

// Index of the fastest; ties: the first. The status of the last one if none
// fits. `scores` (may be null) gets all, for reports; what it has already, of
// the first tilings, is taken from there.
absl::StatusOr<size_t> ChooseTiling(const KernelContext& context,
                                    absl::Span<const Tiling> tilings,
                                    std::vector<TilingScore>* scores = nullptr);

// Bundles of the whole kernel. `name` and `fingerprint` are left to the caller.
absl::StatusOr<isa::Kernel> FrameKernel(const KernelContext& context,
                                        const Tiling& tiling);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KERNEL_PLAN_H_
