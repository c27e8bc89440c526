// Instructions on arrays whose sizes are known at run time, as instructions on
// arrays of their bounds (padded_array.h).
//
// Elements meet only where both count: reduces, products and windows see the
// neutral value beyond the sizes, sorts leave it behind, concatenations are
// without gaps, scatters skip it. What computes element by element or moves
// dimensions passes sizes on. As hlo_backend/evaluator/dynamic_sizes.h and
// dynamic_movement.h have it.
#ifndef PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_FORMS_H_
#define PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_FORMS_H_

#include <vector>

#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/passes/dynamic/padded_array.h"

namespace ptxla::hlo {

// The leaves of a value, in order.
using PaddedResults = absl::StatusOr<std::vector<PaddedArray>>;

// Unimplemented for what the evaluator refuses, too.
PaddedResults PaddedForm(const Instruction& i, PaddedOperands operands,
                         PaddedBuilder* b);

// Parts of it. `Unknown()`: an opcode that is none of theirs.
absl::Status UnknownPadded();
PaddedResults PaddedMovement(const Instruction& i, PaddedOperands operands,
                             PaddedBuilder* b);
PaddedResults PaddedIndexing(const Instruction& i, PaddedOperands operands,
                             PaddedBuilder* b);
// dynamic-reshape, whose counting elements keep their order.
PaddedArray PaddedReshape(const Instruction& i, PaddedOperands operands,
                          PaddedBuilder* b);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_DYNAMIC_PADDED_FORMS_H_
