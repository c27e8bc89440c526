// Physical registers of the locals of a scheduled block, by a walk over its
// bundles: a register is free again in the bundle of its last read; one whose
// last write nobody reads is free when that write has landed.
//
//   const LocalReads reads(instrs, registers);
//   RETURN_IF_ERROR(
//       AllocateRegisters(instrs, registers, reads, model, budget, &s));
//   s.physical[v.dst - s.first_local]
//
// ResourceExhausted where the schedule needs more than the budget.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ALLOCATE_REGISTERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ALLOCATE_REGISTERS_H_

#include "absl/status/status.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/codegen/local_reads.h"
#include "hlo_backend/lowering/codegen/schedule.h"
#include "hlo_backend/lowering/codegen/vcode.h"
#include "isa/machine_model.h"

namespace ptxla::codegen {

absl::Status AllocateRegisters(absl::Span<const VInstr> instrs,
                               absl::Span<const VRegister> registers,
                               const LocalReads& reads,
                               const isa::MachineModel& model,
                               const RegisterBudget& budget,
                               BlockSchedule* schedule);

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_ALLOCATE_REGISTERS_H_
