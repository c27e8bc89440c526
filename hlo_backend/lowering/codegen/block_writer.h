// Bundles of one block from its schedule: virtual registers become those of the
// machine, idle cycles nops.
//
//   ASSIGN_OR_RETURN(BlockSchedule s, ScheduleBlock(...));
//   isa::Block bundles = WriteBlock(block, code.registers, s);
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_WRITER_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_WRITER_H_

#include <array>
#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/code.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

isa::Block WriteBlock(const VNode& block, absl::Span<const VRegister> registers,
                      const BlockSchedule& schedule);

// Of a block that says where each instruction goes (BlockMode::kPlaced).
absl::StatusOr<isa::Block> WritePlacedBlock(const VNode& block,
                                            const Code& code,
                                            const isa::MachineModel& model);

// Registers that globals leave to the locals of a block.
RegisterBudget BudgetOf(
    const std::array<uint64_t, isa::kNumRegClasses>& globals,
    const isa::MachineModel& model);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_BLOCK_WRITER_H_
