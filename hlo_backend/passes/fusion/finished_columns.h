// Which scores of an attention are finished, column by column, in the kernel of
// their product: maxima over the keys, exponentials and their sums. Of all
// others that lie keys first, maxima alone are made with the product
// (row_statistics.h).
//
//   k = bf16[4,2,7,1024,64] broadcast(bf16[4,2,1024,64] keys)
//   s = f32[4,2,7,1024,1024] dot(k, q)
//   FinishesColumns(s, keys->shape(), /*count=*/1024, chip)    // true
//
// The TPU compiler (libtpu 0.0.42.1, v4 to v6e) does so with f32 scores of bf16
// queries and keys: of heads with keys of their own where the program
// multiplies queries with keys, not keys with queries (score_order.h); of
// groups of heads that share their keys in several sequences. All others are
// three kernels.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FINISHED_COLUMNS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FINISHED_COLUMNS_H_

#include <cstdint>

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Of an element of rows that a step finishes: two planes of scratch and two
// windows of a result.
inline constexpr int64_t kBytesOfRows = 16;

// VMEM that a step may take for rows or columns and the operand beside them, in
// bytes (policy.row_vmem_share).
double RoomForRows(const chips::ChipSpec& chip);

// Of `count` keys for each query, of so many elements: whether the TPU compiler
// finishes their scores with the product. libtpu 0.0.42.1, v5e and v5p: 2,048
// keys of 128 and 3,072 of 64 are, 2,560 of 128 are not.
bool FinishesKeys(int64_t count, int64_t depth, const chips::ChipSpec& chip);

// Scores that the TPU compiler finishes with their product: f32 numbers of bf16
// queries and keys, or bf16 ones that the program widens as they come. Those
// that it scales or masks in bf16, and those of f32 queries and keys, are
// stored as they are, with their maxima, and their exponentials are made again
// in each kernel that needs some (libtpu 0.0.42.1, v4 to v6e).
bool AreFinishedScores(const Instruction& dot);
// The product of the scores that were scaled, masked, lowered by their maxima
// to make `value`, also inside of a kernel; null: none is near.
const Instruction* ScoresBehind(const Instruction& value);

// Does it finish scores of `count` keys, a batched product of bf16 that the
// program writes queries first; once layouts are assigned, only where no heads
// of an operand lie in rows of tiles ([batch, sequence, heads, 128]), or the
// chip's compiler gathers them (policy.finished_gathered_heads). True of all
// others, of chips whose scores go through chains (policy.chain_rows), and
// where softmaxes are no kernels (no policy.softmax_rank).
bool FinishesScores(const Instruction& dot, int64_t count,
                    const chips::ChipSpec& chip);

// `keys`: as the program has them, of groups that share them [sequences,
// groups.., `count`, depth] in some order. Whole columns have to fit a step.
bool FinishesColumns(const Instruction& dot, const Shape& keys, int64_t count,
                     const chips::ChipSpec& chip);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FINISHED_COLUMNS_H_
