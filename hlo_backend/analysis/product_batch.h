// Which dimensions of a dot's result count as batch members for its kernel.
//
// A dot has its batch dimensions in front. Free dimensions of the left operand
// between those and the rows count as members too, that share the right operand
// (queries of a group and the keys that they share); so do all free dimensions
// but the last where rows of several planes do not follow one another:
//
//   bf16[8,4,256,128] x bf16[8,8192,128], batch {0}   // 8 x 4 members, groups
//                                                     // of 4 share 8192 x 128
//   f32[8,30522,128] x f32[128,64]   // 8 members that all share 128 x 64
//   f32[8,512,128] x f32[128,64]     // 4096 rows: no members
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_BATCH_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_BATCH_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The first so many dimensions of the result, and of the left operand. `dot`
// has one free dimension on the right.
int ProductBatch(const Instruction& dot);

// Members in a row that share one plane of the right operand: 1 if none do.
int64_t SharingMembers(const Instruction& dot);

// Batch dimensions of one operand: of the right one, those of the dot.
int OperandBatch(const Instruction& dot, int operand);

// The matrix that all members of a dot's batch share as this operand, if it is
// said by a broadcast to the batch dimensions; else null. Or the matrices of
// the first batch dimensions, each shared by the members of the others. Inside
// of a fusion they are read as they lie.
//
//   w = bf16[8,512,64] broadcast(m), dimensions={1,2}
//   d = dot(w, x), batch {0}   // SharedMatrix(d, 0) is m, bf16[512,64]
//   k = bf16[8,4,512,64] broadcast(g), dimensions={0,2,3}
//   d = dot(k, x), batch {0,1}   // SharedMatrix(d, 0) is g, bf16[8,512,64]
const Instruction* SharedMatrix(const Instruction& dot, int operand);

// The slice that gives a dot's operand: members of the batch that follow one
// another in an array of more; else null. Inside of a fusion they are read
// where they lie.
//
//   x = bf16[64,384,384] slice(bf16[128,384,384] pairs), its first one [64:128]
//   d = dot(x, y), batch {0}   // SlicedMembers(d, 0) is x
const Instruction* SlicedMembers(const Instruction& dot, int operand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PRODUCT_BATCH_H_
