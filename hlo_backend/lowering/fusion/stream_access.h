// How a leaf of a formula is read: as tiles of its own, a row, a lane or one
// value (Access), by which of its dimensions the iteration runs along.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_ACCESS_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_ACCESS_H_

#include "absl/status/status.h"
#include "hlo_backend/lowering/fusion/geometry.h"

namespace ptxla::lowering {

// Iteration dimension that indexes physical dimension p of the leaf, or -1.
int IterationDim(const ExprNode& leaf, const PhysicalArray& a, int p);

// Sets how `s`, whose array is known, is read. Unimplemented: across its layout
// (`instr` is named).
absl::Status ClassifyAccess(const Expression& e, const ExprNode& leaf,
                            const hlo::Instruction& instr, Stream* s);

// Base tiles that one register of the tiles of `s` covers, beside base tiles of
// g.base_rows rows.
absl::Status ChoosePacking(const Geometry& g, const hlo::Instruction& instr,
                           Stream* s);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_STREAM_ACCESS_H_
