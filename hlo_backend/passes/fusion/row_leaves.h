// What the rows of a product may read beside it in the kernel that finishes
// them (row_fusion.h): what lowering loads or makes there
// (lowering/products/tile_formula.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_LEAVES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_LEAVES_H_

#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A value is reduced over the dimension further down, behind elementwise work;
// its rows are.
bool MeetsReduce(const Instruction& value, int64_t dimension, int depth = 0);
bool MeetsRowReduce(const Instruction& value);

// The reduce is along lanes or rows of tiles, not from plane to plane.
bool ReducesInTiles(const Instruction& reduce);

// Made of constants and iotas alone (a causal mask): again where needed.
bool IsFreeOfRows(const Instruction& value);

// A broadcast of [rows, columns] to each member of a batch.
bool KeepsMatrix(const Instruction& broadcast);

// A broadcast to the shape of `dot`, whose last two dimensions are rows and
// columns: of [rows, columns] or [columns], for some of the dimensions of the
// batch or none of them (a bias of each head, a mask of each sequence).
bool IsSharedByRows(const Instruction& broadcast, const Instruction& dot);

// The broadcast is of a conversion that gives wider elements than it reads: the
// narrow ones are broadcast, and converted inside.
bool IsBroadcastOfWidened(const Instruction& broadcast);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_LEAVES_H_
