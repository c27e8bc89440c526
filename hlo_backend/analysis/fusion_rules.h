// Which fusions exist: what the fusion pass may build and lowering must be able
// to make a kernel of. One function per form; each says what is wrong.
//
//   kLoop    Elementwise work on one iteration shape. Roots (one, or a tuple of
//            several) all have the iteration shape.
//   kInput   As kLoop, and one or more roots are reduces of a value of the
//            iteration shape, all over the same dimensions, with a scalar
//            constant as start and one operation as body (MonoidOf). Its f32
//            result may be stored as bf16 (StoredReduce). Beside reduces over
//            the last dimension there may be some of the columns
//            (IsReduceOfColumns). Other roots have the
//            iteration shape. The positions of an extremum
//            (extremum_position.h) may be a root beside it, or without it.
//            A kLoop body that only moves data (IsMovementFusion) may also hold
//            transposes, reshapes, slices and copies: one chain, one root.
//   kOutput  Exactly one dot (or convolution). Each of its operands is a
//            parameter, or
//            elementwise work on parameters of the operand's shape, of which
//            there is at least one, and on broadcasts to it
//            (prologue_rules.h): the prologue. The rest is elementwise work
//            on the dot's shape (the epilogue); roots have the dot's shape. It
//            may hold row reduces (IsRowReduce) whose results are broadcast
//            along the rows again (a softmax of scores), or are roots too. Or
//            reduces of its columns (IsColumnReduce), or reduces of the columns
//            of each member of a batch (IsMemberColumnReduce), are roots beside
//            others; the latter may be broadcast along the columns again, too.
//   kCustom  Two of the last kind, the second going on with the rows of the
//            first (product_chain.h); or kernels of small arrays one after the
//            other (stages.h); or a scatter and the one value that it adds to
//            (filled_scatter.h).
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

#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/analysis/data_movement.h"
#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Unimplemented, naming the instruction inside that breaks the rule.
absl::Status CheckFusion(const Instruction& fusion);  // by its kind
absl::Status CheckLoopFusion(const Instruction& fusion);
absl::Status CheckInputFusion(const Instruction& fusion);
absl::Status CheckOutputFusion(const Instruction& fusion);

// What a kOutput fusion is built around: a dot, or a convolution.
bool IsProduct(const Instruction& instruction);

// The roots of a fusion's body: the elements of a root tuple, or the root.
std::vector<Instruction*> FusionRoots(const Instruction& fusion);

// kLoop: the shape of the roots. kInput: that of the reduces' operand.
// kOutput: that of the dot.
const Shape& IterationShape(const Instruction& fusion);

// Members of a product's batch that may share rows of values per column (a mask
// of each sequence): which row is a member's is found by scalar products of 32
// bits, exact below.
inline constexpr int64_t kMostSharingMembers = (1 << 15) - 1;

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_FUSION_RULES_H_
