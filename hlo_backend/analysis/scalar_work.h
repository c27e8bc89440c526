// Work for the scalar unit: loop counters, bounds, indices. Such a value lies
// in SMEM and takes a few scalar bundles, no kernel.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_SCALAR_WORK_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_SCALAR_WORK_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// s32, u32 or pred, without dimensions.
bool IsScalarUnitShape(const Shape& shape);

// An instruction, or a kLoop fusion of such, all of whose values are
// IsScalarUnitShape and whose operations the scalar unit has: add, subtract,
// negate, multiply, maximum, minimum, and, or, xor, shifts, compare, select,
// convert, bitcast-convert, constant. One result.
bool IsScalarUnitWork(const Instruction& instruction);

// A kernel that slices or updates from where `value` says, and reads that in
// SMEM.
bool StartsAtScalar(const Instruction& kernel, const Instruction& value);

// A kernel that may read `value`, a scalar in SMEM, where it lies: it starts
// there, or has it in all of its lanes. Which ones do depends on the kernel's
// form: lowering refuses others.
bool MayReadInSmem(const Instruction& kernel, const Instruction& value);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_SCALAR_WORK_H_
