// Makes one kernel of a product and the work on its rows that RowFusionPass has
// chosen: constants, iotas and broadcasts that the work reads are cloned
// inside.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KERNEL_BUILDER_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KERNEL_BUILDER_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "chips/chip_spec.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

class RowKernelBuilder {
 public:
  RowKernelBuilder(Computation* c, const chips::ChipSpec& chip)
      : c_(c), chip_(chip) {}

  // `members`: the product first, operands before their users. `keep_sums`: a
  // product that is rounded to bf16 only to be widened again is not rounded.
  void Build(std::vector<Instruction*> members, bool keep_sums);

 private:
  void KeepSums(std::vector<Instruction*>* members);
  // What a member reads, as it is read inside of the kernel.
  Instruction* Inside(Instruction* value);
  Instruction* Grouped(Instruction* clone);

  Computation* c_;
  const chips::ChipSpec& chip_;
  // Of the kernel at hand.
  absl::flat_hash_set<const Instruction*> members_;
  absl::flat_hash_map<const Instruction*, Instruction*> clones_;
  std::vector<Instruction*> group_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_ROW_KERNEL_BUILDER_H_
