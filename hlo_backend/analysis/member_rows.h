// Operands of products whose batch members lie in the rows of tiles.
//
// A dot's operand has its batch dimensions in front, then the two dimensions of
// a matrix, and mostly lies so. Keys of attention lie [batch, sequence, heads,
// depth]: a row of tiles holds one row of 8 members (heads). A product reads
// them where they lie, with loads that take one sublane of every tile, as the
// TPU compiler has it (its copy to another layout is inside of the product's
// fusion); no transpose stands before it.
//
//   bf16[16,8,4096,128]{3,1,2,0:T(8,128)(2,1)}   // 16 x 8 matrices of 4096
//   rows MembersInRows(shape, 2)->rows == 2, ->lanes == 3
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_MEMBER_ROWS_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_MEMBER_ROWS_H_

#include <cstdint>
#include <optional>

#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// Numbers of the matrix' dimensions: the one along planes, and the minor one.
struct MemberRows {
  int rows = 0, lanes = 0;
};

// How products take rows. An array in VMEM that has no whole tiles of them is
// read beyond its end.
inline constexpr int64_t kMemberRowUnit = 16;
inline constexpr int64_t kMemberRowTile = 128;

// Of an operand with tiles, bf16 or f32, and so many batch dimensions in front;
// nullopt if it lies otherwise.
std::optional<MemberRows> MembersInRows(const Shape& operand, int64_t batch);

// Does the kernel, a dot or a fusion around one, read rows of `value` that are
// not there? Then only a copy in a slot will do, none in VMEM.
bool ReadsRowsBeyond(const Instruction& kernel, const Instruction& value);

// VMEM of a step that holds so many whole rows of each of the 8 members that
// share tiles, and all of the right operand, at most.
int64_t MemberStepBytes(const Instruction& dot, int64_t rows);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_MEMBER_ROWS_H_
