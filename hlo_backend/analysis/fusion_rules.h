// Which fusions exist: what the fusion pass may build and lowering must be able
// to make a kernel of. One function per form; each says what is wrong.
//
//   kLoop    Elementwise work on one iteration shape. Roots (one, or a tuple of
//            several) all have the iteration shape.
//   kInput   As kLoop, and one or more roots are reduces of a value of the
//            iteration shape, all over the same dimensions, with a scalar
//            constant as start and one operation as body (MonoidOf). Its f32
//            result may be stored as bf16 (StoredReduce). Other roots have the
//            iteration shape. The positions of an extremum
//            (extremum_position.h) may be a root beside it, or without it.
//            A kLoop body that only moves data (IsMovementFusion) may also hold
//            transposes, reshapes, slices and copies: one chain, one root.
//   kOutput  Exactly one dot (or convolution). Each of its operands is a
//            parameter, or
//            elementwise work on parameters of the operand's shape, of which
//            there is at least one, and on broadcasts to it
//            (IsPrologueBroadcast): the prologue. The rest is elementwise work
//            on the dot's shape (the epilogue); roots have the dot's shape. It
//            may hold row reduces (IsRowReduce) whose results are broadcast
//            along the rows again (a softmax of scores), or are roots too. Or
//            sums over its columns (IsColumnSum), or reduces of the columns of
//            each member of a batch (IsMemberColumnReduce), are roots beside
//            others.
//   kCustom  Two of the last kind, the second going on with the rows of the
//            first (product_chain.h); or kernels of small arrays one after the
//            other (stages.h).
//
// Elementwise work on an iteration shape S: elementwise instructions of shape
// S; iota of shape S; broadcasts to S from a parameter, a constant, or a value
// computed in the fusion on the smaller shape; bitcasts and reshapes that only
// add or drop dimensions of size 1. Parameters of any shape may feed
// broadcasts; others have the dimensions of what reads them. Element types are
// free. Constants inside are scalars or splats.
//
//   RETURN_IF_ERROR(CheckFusion(*fusion));
//   const Shape& s = IterationShape(*fusion);
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_FUSION_RULES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_FUSION_RULES_H_

#include <optional>
#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Unimplemented, naming the instruction inside that breaks the rule.
absl::Status CheckFusion(const Instruction& fusion);  // by its kind
absl::Status CheckLoopFusion(const Instruction& fusion);
absl::Status CheckInputFusion(const Instruction& fusion);
absl::Status CheckOutputFusion(const Instruction& fusion);

// What a kOutput fusion is built around: a dot, or a convolution.
bool IsProduct(const Instruction& instruction);

// A step of a movement: copy, reshape, bitcast, transpose, broadcast, slice,
// reverse, concatenate, pad.
bool IsDataMovement(const Instruction& instruction);

// A fusion of such steps alone, of which one moves elements to other places.
bool IsMovementFusion(const Instruction& fusion);

// A reduce along one dimension whose values, perhaps converted, are only
// broadcast along it again (the maximum of a softmax). Several such reduces of
// one dimension, one behind the other, may stand in a kInput fusion, whose
// steps then hold all of that dimension.
bool IsBroadcastAgain(const Instruction& reduce);

// The roots of a fusion's body: the elements of a root tuple, or the root.
std::vector<Instruction*> FusionRoots(const Instruction& fusion);

// kLoop: the shape of the roots. kInput: that of the reduces' operand.
// kOutput: that of the dot.
const Shape& IterationShape(const Instruction& fusion);

// Elementwise instructions whose kernel is a plain vector loop. False for what
// IsElementwise() admits but no vector unit has: complex numbers, 64-bit
// types.
bool IsLoopElementwise(const Instruction& instruction);

// A slice that takes some lanes of every row of an array whose rows are one
// tile wide: half of a head, as rotary embeddings do. A loop reads the tiles of
// the array itself and rotates their lanes, as in the TPU compiler.
//   bf16[8,1024,16,64] slice(bf16[8,1024,16,128]), its last dimension [64:128]
bool IsLaneSlice(const Instruction& instruction);

// The one operation of a reduce body `(x, y) -> op(x, y)`: add, multiply,
// maximum, minimum, and, or, xor; nothing for other bodies.
std::optional<Opcode> MonoidOf(const Computation& body);

// A reduce of one array that a kInput fusion may hold.
bool IsFusibleReduce(const Instruction& reduce);

// The reduce that a value is: itself, or the f32 one that a convert to bf16 is
// the only reader of, as a kernel may store it. Nullptr for others.
const Instruction* StoredReduce(const Instruction& value);

// A fusible f32 (or logical, or bf16 maximum or minimum) reduce of a value of
// the dot's shape over its last dimension.
bool IsRowReduce(const Instruction& reduce, const Instruction& dot);

// An f32 sum of a value of the product's shape over all of its dimensions but
// the last, the columns: what a kernel can add up as it makes them. Products
// with a batch and gradients of convolutions have no such rows.
bool IsColumnSum(const Instruction& reduce, const Instruction& product);

// A fusible f32 reduce of a value of the shape of a dot with a batch over its
// rows, the last dimension but one: what the columns of each member reduce to,
// made as their tiles are finished. Nothing in the same kernel reads it.
bool IsMemberColumnReduce(const Instruction& reduce, const Instruction& dot);

// A broadcast to the shape of a dot's operand that its prologue may read: of a
// scalar, of values along the minor dimension, or of values per row (all
// dimensions but the minor one, 32 bits).
bool IsPrologueBroadcast(const Instruction& broadcast);

// One to the shape of a dot's operand whose values per column differ from
// member to member (or from plane to plane) of one dimension, or of all of the
// batch, as a kernel can read them, too: [batch, columns] of [batch, rows,
// columns].
bool IsMemberColumns(const Instruction& broadcast);

// Members of a product's batch that may share rows of values per column (a mask
// of each sequence): which row is a member's is found by scalar products of 32
// bits, exact below.
inline constexpr int64_t kMostSharingMembers = (1 << 15) - 1;

// Equal up to dimensions of size 1, which may be added or dropped.
bool SameUpToDegenerateDims(const Shape& a, const Shape& b);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_FUSION_RULES_H_
