// Windows of a gather that are whole planes of its operand, copied as they lie:
// the weights of the experts that tokens go to.
//
//   bf16[8,2,512,128] gather(bf16[4,512,128] weights, s32[8,2] experts)
//   ==> bf16[16,512,128] gather(weights, s32[16])   (analysis/plane_gather.h)
//
// Planes of rows that would leave their lanes empty are named as compact
// layouts have them, columns first:
//
//   bf16[8,4096,16] gather(bf16[16,4096,16] adapters, s32[8] of)
//   ==> transpose(bf16[8,16,4096] gather(transpose(adapters), of))
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_

#include <cstdint>

#include "hlo_backend/passes/expanders/row_indices.h"

namespace ptxla::hlo {

// Planes of two dimensions or more that padding to whole tiles at most doubles,
// of whole bytes, in a table of `rows` of which `planes` are named, both of
// fewer bytes than kernels count. Other planes are shorter as rows of a table.
bool AreCopiedAsTheyLie(PrimitiveType type, const DimVector& plane,
                        int64_t rows, int64_t planes);

// [rows.count(), plane...] of `x`, the operand of `gather` without what windows
// leave out; nullptr, if its windows are not copied as they lie.
Instruction* GatherPlanes(Builder& b, const Instruction& gather, Instruction* x,
                          RowIndices& rows);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_GATHERED_PLANES_H_
