// Packs the instructions of a block into bundles: list scheduling by longest
// path, under the chip's slots, unit intervals, FIFO depths, VMEM banks and
// number of registers; then gives locals their physical registers.
//
// The order in which a FIFO is pushed is the scheduler's choice where each
// push gives one result (EUP, lane permutes and reductions), so unrolled
// copies of a formula overlap whatever the order they were written in.
//
//   ASSIGN_OR_RETURN(BlockSchedule s, ScheduleBlock(instrs, registers, model,
//                                                   budget, BlockMode::kFree));
//   s.cycles                    // length, all results landed
//
// ResourceExhausted when no order keeps within the registers: the caller
// unrolls less or spills.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SCHEDULE_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SCHEDULE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/dependences.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

// Physical registers that locals of a block may use, per isa::RegClass.
struct RegisterBudget {
  std::array<std::vector<uint8_t>, isa::kNumRegClasses> free;
};

struct BlockSchedule {
  // (cycle, instruction), by cycle.
  std::vector<std::pair<int32_t, int32_t>> order;
  int64_t cycles = 0;
  // Physical register of each local of the block; index: virtual register
  // minus `first_local`.
  int32_t first_local = 0;
  std::vector<uint8_t> physical;
};

absl::StatusOr<BlockSchedule> ScheduleBlock(
    absl::Span<const VInstr> instrs, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget,
    BlockMode mode);

// The schedule of a kPlaced block: only its registers are chosen here.
absl::StatusOr<BlockSchedule> AllocatePlaced(
    const VNode& block, absl::Span<const VRegister> registers,
    const isa::MachineModel& model, const RegisterBudget& budget);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_SCHEDULE_H_
