// Work on a few numbers of each point, f32[..,3], that may be done with the
// numbers in another place (minor_planes.h): elementwise work, and what leaves
// points or numbers out, adds some or puts them together.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// The last dimension is such numbers: fewer than lanes, more than one.
bool HasFewNumbers(const Instruction& i);
// Slices, pads and concatenations of points; each keeps its numbers.
bool CutsPoints(const Instruction& i);
// Slices, pads and concatenations of the numbers: from f32[..,4] corners two
// f32[..,2], and back.
bool CutsNumbers(const Instruction& i);
bool IsPointWork(const Instruction& i);
// A reshape of values to one number a point: f32[16,900] to f32[16,900,1].
bool IsOneNumber(const Instruction& i);
// A reshape that makes points of neighbouring lanes (blocks of eight that share
// a scale), or lanes of points.
bool SplitsLanes(const Instruction& i);
bool JoinsLanes(const Instruction& i);

// Gives what cuts points attributes for dimensions in another order: dimension
// k is what was order[k].
void CutInOrder(Instruction* i, const DimVector& order);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_POINT_WORK_H_
