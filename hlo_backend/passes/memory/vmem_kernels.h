// Which kernels can have their operands and results in VMEM, instead of windows
// of them that come from HBM.
//
//   %y = f32[128,64,64] add(%x, %x)         IsVmemKernel(*y)
//   %s = f32[64,64] dynamic-slice(%x, ...)  only MayLieInVmem(*s)
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_KERNELS_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_KERNELS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Kernels whose operands and results may be in VMEM, and that read what they
// are given as a whole.
bool IsVmemKernel(const Instruction& instruction);
// Convolutions whose planes are too large for results in VMEM: what they
// multiply may lie there.
bool IsLargeConvolution(const Instruction& instruction);
// VMEM kernels and movements that take parts of their operands: their values
// may lie in VMEM, but a parameter is not brought there for them.
bool MayLieInVmem(const Instruction& instruction);
// Whether the kernel can read this operand of its there.
bool ReadsInVmem(const Instruction& kernel, const Instruction& operand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_KERNELS_H_
