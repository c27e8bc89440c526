// Which instructions a kernel computes element by element in a loop over vector
// registers.
//
//   f32[8,128] add(f32[8,128] %x, f32[8,128] %y)   // IsLoopElementwise
//   c64[8,128] add(...)                            // no: no such registers
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_VECTOR_LOOPS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_VECTOR_LOOPS_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Elementwise instructions whose kernel is a plain vector loop. False for what
// IsElementwise() admits but no vector unit has: complex numbers, 64-bit
// types.
bool IsLoopElementwise(const Instruction& instruction);

// Arrays, all of them, of types that a lane holds: of at most 32 bits and not
// complex.
bool HasVectorTypes(const Instruction& instruction);

// A slice that takes some lanes of every row of an array whose rows are one
// tile wide: half of a head, as rotary embeddings do. A loop reads the tiles of
// the array itself and rotates their lanes, as in the TPU compiler.
//   bf16[8,1024,16,64] slice(bf16[8,1024,16,128]), its last dimension [64:128]
bool IsLaneSlice(const Instruction& instruction);

// A slice in steps of 1 that begins with a whole tile of its array: gate and
// value of a gated unit made as one product. A loop reads the tiles of the
// array itself from there on, as in the TPU compiler.
//   f32[64,256] slice(f32[64,512]), its last dimension [256:512]
bool IsTileSlice(const Instruction& instruction);

// By how many lanes a concatenation turns every row of an array whose rows are
// one tile wide; 0: it is none such. Read as lane slices are.
//   f32[8,128] concatenate(slice(%x, lanes [32:128]), slice(%x, [0:32]))  // 32
int LaneRotation(const Instruction& instruction);

// A part, a concatenation or a padded array (MovesInOrder) of values of 16 or
// 32 bits that begin anywhere: a loop over its shape can move it into place
// block by block (lowering/fusion/shifted_streams.h).
bool IsShift(const Instruction& instruction);
// One that a loop can read: of one dimension, or of tiles of whole registers.
bool IsShiftedOperand(const Instruction& instruction);
// Arrays that a loop can move into place for one operand: each has a window of
// its own. ASSUMED; a sum of 16 neighbours is one kernel of libtpu's.
inline constexpr int kMostShiftedParts = 16;

// Equal up to dimensions of size 1, which may be added or dropped.
bool SameUpToDegenerateDims(const Shape& a, const Shape& b);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_VECTOR_LOOPS_H_
