// From one HLO instruction to one kernel. Each family of instructions has a
// function here; EmitKernel picks it by opcode (and fusion kind).
//
// Arguments of the kernel are the operands of the instruction, each leaf array
// once in operand order, then the leaves of the result. A result that must
// share its memory with an operand (dynamic-update-slice, scatter in place) is
// named by InPlaceOperand().
#ifndef PTXLA_HLO_BACKEND_LOWERING_KERNEL_EMITTER_H_
#define PTXLA_HLO_BACKEND_LOWERING_KERNEL_EMITTER_H_

#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/kernel_plan.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// Where an array with this layout lies.
isa::Space ArgSpace(const hlo::Shape& shape);
// The array leaves of an instruction's operands, then of its result.
std::vector<const hlo::Shape*> KernelLeaves(const hlo::Instruction& i);
// One KernelArg per leaf: name, space by the layout's memory space, bytes.
absl::StatusOr<std::vector<isa::KernelArg>> KernelArgs(
    const hlo::Instruction& i);

// A copy from HBM to HBM whose layout stays is a kernel like any elementwise
// one: block by block through VMEM. Scalars, and types that no vector unit
// holds, are moved by one DMA.
bool CopiesThroughVmem(const hlo::Instruction& copy);

// Unimplemented names the instruction and what is not supported.
absl::StatusOr<isa::Kernel> EmitKernel(const KernelContext& context,
                                       const hlo::Instruction& i);

// What an error about an instruction that is not lowered tells its reader to
// do.
constexpr char kEstimateAdvice[] =
    " (--unknown-ops=estimate gives it a roofline estimate)";

// Families, one file each.
absl::StatusOr<isa::Kernel> EmitLoopFusion(const KernelContext& context,
                                           const hlo::Instruction& i);
absl::StatusOr<isa::Kernel> EmitReduceFusion(const KernelContext& context,
                                             const hlo::Instruction& i);
// dot, and fusions of kind kOutput (products/).
absl::StatusOr<isa::Kernel> EmitProduct(const KernelContext& context,
                                        const hlo::Instruction& i);
// fusions of kind kCustom: two products, the second of the first one's rows.
absl::StatusOr<isa::Kernel> EmitProductChain(const KernelContext& context,
                                             const hlo::Instruction& i);
// fusions of kind kCustom: kernels of small arrays in one (stages/).
absl::StatusOr<isa::Kernel> EmitStages(const KernelContext& context,
                                       const hlo::Instruction& i);
// convolution, and fusions of kind kOutput around one (convolutions/).
absl::StatusOr<isa::Kernel> EmitConvolution(const KernelContext& context,
                                            const hlo::Instruction& i);
bool IsConvolution(const hlo::Instruction& i);
// transpose, reshape, copy, slice, concatenate, pad, reverse, dynamic-slice,
// dynamic-update-slice, gather, scatter, rng-bit-generator (movement/).
absl::StatusOr<isa::Kernel> EmitMovement(const KernelContext& context,
                                         const hlo::Instruction& i);
// A kernel that only takes time: the roofline cost of the instruction. Its note
// says that, and why there is no other. For `--unknown-ops=estimate`.
absl::StatusOr<isa::Kernel> EmitEstimate(const KernelContext& context,
                                         const hlo::Instruction& i,
                                         absl::string_view reason);
bool IsEstimate(const isa::Kernel& kernel);
// A kernel that takes `cycles` on each of `cores` and computes nothing, marked
// as an estimate for this reason.
isa::Kernel EmitWait(const hlo::Instruction& i, int64_t cycles, int cores,
                     absl::string_view reason);

// The operand whose memory the result takes over; -1: none.
int InPlaceOperand(const hlo::Instruction& i);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_KERNEL_EMITTER_H_
