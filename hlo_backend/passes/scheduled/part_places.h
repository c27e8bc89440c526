// Parts of a fusion in the place that it had (fusion_splitter.h): between what
// it read and what reads it, in its layouts and memory spaces.
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_PLACES_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_PLACES_H_

#include <utility>
#include <vector>

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// A value in `shape`'s layout and memory space; what it is a view of, in that
// space too.
void GiveShape(Instruction* value, const Shape& shape);

// What stands inside of fusions of the parts, and what is a view of an operand,
// is where the parts' operands are. Parts have the ids from `begin` on.
void GiveOperandShapes(const Computation& c, int begin);

// What only names memory names a copy in HBM where an operand of `whole` is a
// scalar in SMEM, whose memory has no other shape.
void CopyScalars(const Instruction& whole, Computation* body);

// Who reads an instruction, and as which operand; what makes the values that
// have taken its place there.
using Uses = std::vector<std::pair<Instruction*, int>>;
Uses UsesOf(const Instruction& i);
std::vector<const Instruction*> MakersOf(const Uses& uses);

// Puts the body's kernels in the instruction's place.
void PutInPlace(Instruction* old, Computation* body);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_PART_PLACES_H_
