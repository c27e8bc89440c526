// The rules of the algebraic simplifier, one group per file simplify_*.cc. Each
// returns the value that stands for `i`, or nullptr; see rewriter.h.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_

#include "hlo_backend/passes/rewriter.h"

namespace ptxla::hlo {

// x + 0, x * 1, x / c, power(x, 2), -(-x), and/or with constants …
Instruction* SimplifyIdentity(Instruction* i, Rewriter& r);
// min(max(x, low), high) and max(min(x, high), low) with constants low < high
// are clamp(low, x, high).
Instruction* SimplifyBounds(Instruction* i, Rewriter& r);
// Constants to the right; elementwise work on broadcasts is done before them.
Instruction* SimplifyBroadcastOperands(Instruction* i, Rewriter& r);
// Elementwise work on a product with a batch is done without dimensions of size
// 1.
Instruction* SimplifyUnits(Instruction* i, Rewriter& r);
// Work between reshapes there and back is done without them.
Instruction* SimplifyUndone(Instruction* i, Rewriter& r);
// reshape, bitcast and copy.
Instruction* SimplifyReshape(Instruction* i, Rewriter& r);
// broadcast of reshapes and broadcasts, identity broadcasts, those that turn
// their source.
Instruction* SimplifyBroadcast(Instruction* i, Rewriter& r);
// The broadcast of `source` whose dimension k becomes mapping[k]. Kernels read
// a source in the order of the result's dimensions: another one is transposed
// first, as XLA does.
Instruction* BroadcastInOrder(Instruction* source, const DimVector& dims,
                              DimVector mapping, Builder& b);
// transpose of transpose, identity, transposes that only move 1s; unary work
// moves above them, so that they meet dots.
Instruction* SimplifyTranspose(Instruction* i, Rewriter& r);
// transpose(dot(a, b)) is dot(b, a), or one of transposed operands.
Instruction* SimplifyTransposedDot(Instruction* i, Rewriter& r);
// Transposes go into dimension numbers; dots on reshaped batch dimensions.
Instruction* SimplifyDot(Instruction* i, Rewriter& r);
// compare and select with constants or equal operands, or of padded arrays.
Instruction* SimplifySelect(Instruction* i, Rewriter& r);
// A mask of rows goes into the labels that the rows are compared with.
Instruction* SimplifyOneHotMask(Instruction* i, Rewriter& r);
// convert to the same type, f32 -> bf16 -> f32.
Instruction* SimplifyConvert(Instruction* i, Rewriter& r);
// The bits of a value's bits are the value's.
Instruction* SimplifyBitcastConvert(Instruction* i, Rewriter& r);
// slice, pad, concatenate, dynamic-slice, iota that do nothing.
Instruction* SimplifySlicing(Instruction* i, Rewriter& r);
// Two pads with zeros that are added and lie side by side: the gradient of an
// array that was split is a concatenation.
Instruction* SimplifySumOfPads(Instruction* i, Rewriter& r);
// What is scattered to zeros and added to an array is scattered to the array.
Instruction* SimplifySumOfScatter(Instruction* i, Rewriter& r);
// Single elements of a transpose are those of what it reads.
Instruction* SimplifyGatherOfTranspose(Instruction* i, Rewriter& r);
// reduces over nothing, over dimensions of size 1, of reshapes, of what is
// negated.
Instruction* SimplifyReduce(Instruction* i, Rewriter& r);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_SIMPLIFY_RULES_H_
