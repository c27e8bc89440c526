// What a value of slices and concatenations is made of, as far as one kernel
// can have it: the TPU compiler takes concatenations, and slices of them, into
// the kernel that reads them, but makes slices of what is stored by themselves,
// if they do not begin where the array does.
//
//   concatenate(slice(x, [3:8]), slice(x, [0:3]))     // without slice(x,
//   [3:8])
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_PART_TREE_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_PART_TREE_H_

#include <vector>

#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Boxes of one kernel: each has windows of its own in a step. ASSUMED.
inline constexpr int kMostParts = 8;

struct PartTree {
  std::vector<Instruction*> members;  // readers first
  int parts = 0;                      // boxes that a kernel of it moves
};

// Of `root`, a slice or a concatenation, and what nobody else reads and
// `may_join` allows.
PartTree PartTreeOf(Instruction* root,
                    absl::FunctionRef<bool(const Instruction&)> may_join);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_PART_TREE_H_
