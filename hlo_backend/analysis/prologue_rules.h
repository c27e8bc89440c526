// What may stand in front of a product's operand inside of a kOutput fusion:
// elementwise work on the operand's shape that reads arrays of that shape and
// the broadcasts below.
//
//   RETURN_IF_ERROR(CollectPrologue(fusion, *dot, *dot->operand(0), &array,
//                                   &members));
#ifndef PTXLA_HLO_BACKEND_ANALYSIS_PROLOGUE_RULES_H_
#define PTXLA_HLO_BACKEND_ANALYSIS_PROLOGUE_RULES_H_

#include "absl/container/flat_hash_set.h"
#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// Unimplemented: `inside` cannot stand in `fusion`, and why.
absl::Status RefuseFusion(const Instruction& fusion, const Instruction& inside,
                          absl::string_view why);

// Adds the instructions of one operand's prologue to `seen`; the error if it is
// none. `parameter`: one of the operand's own shape, if it reads such.
absl::Status CollectPrologue(const Instruction& fusion,
                             const Instruction& product,
                             const Instruction& operand,
                             const Instruction** parameter,
                             absl::flat_hash_set<const Instruction*>* seen);

// A broadcast to the shape of a dot's operand that its prologue may read: of a
// scalar, of values along the minor dimension, or of values per row (all
// dimensions but the minor one, 32 bits).
bool IsPrologueBroadcast(const Instruction& broadcast);

// One to the shape of a dot's operand whose values per column differ from
// member to member (or from plane to plane) of one dimension, or of all of the
// batch, as a kernel can read them, too: [batch, columns] of [batch, rows,
// columns].
bool IsMemberColumns(const Instruction& broadcast);

// One of whole planes of rows and columns that members share, as a kernel can
// read them, too: a mask [rows, columns] of [batch, heads, rows, columns], or a
// bias of each head.
bool IsSharedPlane(const Instruction& broadcast);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_ANALYSIS_PROLOGUE_RULES_H_
