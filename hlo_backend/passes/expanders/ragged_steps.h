// What the sizes of groups decide about a grouped product, as instructions:
// bounds of groups, and the steps of its grid (ir/ragged_call.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_STEPS_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_STEPS_H_

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/ragged_call.h"

namespace ptxla::hlo {

// s32[G + 1] of sizes s32[G]: sums of the sizes before each group, at most
// `rows`; negative sizes count as 0.
Instruction* RaggedBounds(Instruction* sizes, int64_t rows, Builder* b);

struct RaggedSteps {
  Instruction *rows, *group, *tile;  // s32[steps] each
};
// Steps walk the row tiles of one group after another. By rows, those behind
// the last group are walked too; by groups, an empty group has one step. Steps
// that are left over repeat the last block and have no rows.
RaggedSteps MakeRaggedSteps(Instruction* sizes, const RaggedCall& call,
                            Builder* b);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RAGGED_STEPS_H_
