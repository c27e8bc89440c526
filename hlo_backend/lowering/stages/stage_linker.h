// Joins kernels of one step each into one kernel: their code, one after the
// other, in its only step. What one makes and another reads is an argument in
// VMEM to both of them, and a place in the scratch of the joint kernel.
//
//   std::vector<LinkedStage> stages = {{kernel, {{0}, {-1, 0}}},   // in0
//                                      {other, {{-1, 0}, {1}}}};   // out0
//   ASSIGN_OR_RETURN(isa::Kernel k, LinkStages(context, args, stages));
#ifndef PTXLA_HLO_BACKEND_LOWERING_STAGES_STAGE_LINKER_H_
#define PTXLA_HLO_BACKEND_LOWERING_STAGES_STAGE_LINKER_H_

#include <cstdint>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// Where an argument of a stage lies.
struct StagePlace {
  int arg = -1;           // an argument of the joint kernel
  int64_t scratch = -1;   // else a byte of what stages hand on, or
  int result = -1;        // the slot of this argument, which leaves it whole
  bool constant = false;  // nowhere: code has it as an immediate value
};

struct LinkedStage {
  isa::Kernel kernel;              // made with KernelContext::stage
  std::vector<StagePlace> places;  // by its arguments
};

// `handed_on`: bytes of scratch that places reach. Unimplemented: a stage asks
// for what has no joint form (blocks that data moves, transfers of its own from
// what another made). ResourceExhausted: VMEM.
absl::StatusOr<isa::Kernel> LinkStages(const KernelContext& context,
                                       std::vector<isa::KernelArg> args,
                                       absl::Span<const LinkedStage> stages,
                                       int64_t handed_on);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_STAGES_STAGE_LINKER_H_
