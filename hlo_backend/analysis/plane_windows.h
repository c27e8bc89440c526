// Which sliding windows have kernels of their own (lowering/pooling): the
// contract between the passes and lowering.
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PLANE_WINDOWS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PLANE_WINDOWS_H_

#include <cstdint>
#include <optional>

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Planes are at most so many dimensions; the rest is their content.
inline constexpr int kMostWindowPlanes = 4;

// Nothing slides along it.
bool IsIdentity(const WindowDim& w);

// A scalar constant of these bits (bf16: the upper half of them).
bool IsScalarConstant(const Instruction& i, uint32_t bits);

// Bits of the f32, bf16, s32 or u32 that leaves others alone under `op` of a
// reduce-window; none for other types and operations.
std::optional<uint32_t> WindowIdentity(Opcode op, PrimitiveType type);

// A reduce-window over one array of such a type, by a single operation, without
// reversal; or a select-and-scatter that adds up what belongs to the first
// maximum.
bool IsSimpleWindow(const Instruction& i);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PLANE_WINDOWS_H_
