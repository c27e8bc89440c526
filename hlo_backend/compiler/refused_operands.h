// Kernels that lowering refuses with operands in VMEM or SMEM, given these in
// HBM.
//
//   if (BringWindowsToHbm(module, refused, chip)) /* plan and lower again */;
#ifndef PTXLA_HLO_BACKEND_COMPILER_REFUSED_OPERANDS_H_
#define PTXLA_HLO_BACKEND_COMPILER_REFUSED_OPERANDS_H_

#include <cstdint>

#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// A leaf of the value (in ForEachLeaf order), and of what stands for it inside
// of fusions.
void MoveToHbm(Instruction* value, int leaf);

// By KernelFingerprint().
using RefusedKernels = absl::flat_hash_set<uint64_t>;

// Inputs that windows slide over, for which there is a kernel from HBM: the
// arrays that they were copied from (passes/memory/prefetch_source.h); those of
// convolutions, which can be cut in more ways there, as they are. False: none.
bool BringWindowsToHbm(Module* module, const RefusedKernels& refused,
                       const chips::ChipSpec& chip);

// Scalars in SMEM, for kernels that there are if they read a copy of them.
// False: none.
bool CopyScalarsToHbm(Module* module, const RefusedKernels& refused,
                      const chips::ChipSpec& chip);

// Operands and results, where nothing else has helped; what shares their memory
// follows when it is planned. False: none.
bool BringToHbm(Module* module, const RefusedKernels& refused);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_COMPILER_REFUSED_OPERANDS_H_
