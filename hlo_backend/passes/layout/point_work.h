// Work on a few numbers of each point, f32[..,3], that may be done with the
// numbers in another place (minor_planes.h): elementwise work, and what leaves
// points out, adds some or puts them together.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The last dimension is such numbers: fewer than lanes, more than one.
bool HasFewNumbers(const Instruction& i);
// Slices, pads and concatenations of points; each keeps its numbers.
bool CutsPoints(const Instruction& i);
bool IsPointWork(const Instruction& i);
// A reshape that makes points of neighbouring lanes (blocks of eight that share
// a scale), or lanes of points.
bool SplitsLanes(const Instruction& i);
bool JoinsLanes(const Instruction& i);

// Gives what cuts points attributes for dimensions in another order: dimension
// k is what was order[k].
void CutInOrder(Instruction* i, const DimVector& order);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_
