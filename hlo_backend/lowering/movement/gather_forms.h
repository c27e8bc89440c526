// The ways to gather by row number; gather.cc chooses.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_FORMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_FORMS_H_

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_emitter.h"

namespace ptxla::lowering {

// Rows of 16- or 8-bit elements: the words that hold a row and its neighbours
// come by DMA, and the row's part of them is taken out.
absl::StatusOr<isa::Kernel> EmitPackedGather(const KernelContext& context,
                                             const hlo::Instruction& i);
// Whole planes (analysis/plane_gather.h): one DMA each, from the table to the
// result, wherever the two lie.
absl::StatusOr<isa::Kernel> EmitPlaneGather(const KernelContext& context,
                                            const hlo::Instruction& i);
// Single columns (analysis/table_columns.h): the tiles of each by DMA, or where
// they lie in VMEM, and one of their lanes.
absl::StatusOr<isa::Kernel> EmitColumnGather(const KernelContext& context,
                                             const hlo::Instruction& i);
// Single elements (analysis/element_gather.h): rows of 128 words from VMEM, or
// where the table is too large for it by DMA, eight to a register; a
// permutation takes one element of each.
absl::StatusOr<isa::Kernel> EmitElementGather(const KernelContext& context,
                                              const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_GATHER_FORMS_H_
