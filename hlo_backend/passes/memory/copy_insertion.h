// Puts a copy wherever a value would have to lie in two places, or overwrite
// one that is still read:
//
//  - an output that is a parameter, a constant, or another output too;
//  - an output that shares its memory with a parameter (input_output_alias),
//    or the next state of a loop, while the old value is read after the new
//    one is made. Reading it in the instruction that makes the new one is fine
//    where that goes element by element;
//  - the start of a loop that is read elsewhere too (by another loop that
//    starts from the same tuple, say: each then has a tuple of its own), and
//    what dynamic-update-slice overwrites, likewise.
//
// Runs on the schedule: copies of results go to its end, others to right
// before their user. Loop states and branch results are flat tuples of arrays.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_INSERTION_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_INSERTION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CopyInsertionPass : public Pass {
 public:
  absl::string_view name() const override { return "copy-insertion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_COPY_INSERTION_H_
