// Where work on the rows of a product is done that RowFusionPass has gathered:
// in its kernel, or in front of the next product.
//
//   e = f32[b,m,n] exponential(...)        // stored, with
//   t = f32[b,m] reduce(e)                 // its sums
//   p = bf16[b,m,n] convert(divide(e, broadcast(t)))
//   dot(p, v)                              // WorkBefore: {convert, divide}
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_WORK_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_WORK_H_

#include <vector>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/fusion/prologue_policy.h"
#include "hlo_backend/passes/fusion/row_kinds.h"

namespace ptxla::hlo {

// What rows reduce to may be a result beside them.
bool MayBeResult(const Instruction& i, const Instruction& dot);

// Is one array stored, for one reader? Exponentials that a gradient needs too
// are made of the scores again.
bool StoresOnce(const RowMembers& members);

struct RowWork {
  const Instruction& dot;
  const RowMembers& members;
  const ProloguePolicy& prologues;
  const chips::ChipSpec& chip;
};

// What can be done in front of `product`, whose operand is `last`: that and all
// that nobody else needs; nothing if it cannot be done there.
std::vector<const Instruction*> WorkBefore(const RowWork& rows,
                                           const Instruction& last,
                                           const Instruction& product,
                                           int operand);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_WORK_H_
