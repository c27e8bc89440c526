// For each instruction of a computation: what it is to fusion, and which stored
// values the work behind it reads.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_CHAINS_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_CHAINS_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/prologue_policy.h"

namespace ptxla::hlo {

enum class FusionRole : uint8_t {
  kStored,       // parameter, data movement, call …: a value in memory
  kFree,         // constant, broadcast, iota, lanes of an array: made again
                 // where it is needed
  kElementwise,  // a vector loop
  kReduce,       // may end a kInput fusion
  kDot,          // may be the centre of a kOutput fusion
};

struct FusionNode {
  FusionRole role = FusionRole::kStored;
  // Has a place of its own: in memory, or as a member of one kernel. Others
  // are done again in every kernel that uses them.
  bool placed = true;
  // Placed values that the work reads, down through what is not placed: those
  // of its own dimensions, and those that are broadcast. Few, or cut off with
  // `many`.
  absl::InlinedVector<const Instruction*, 2> full, small;
  bool many = false;
  int operations = 0;  // instructions behind it that are done again
  // Of a dot: whether the work behind each operand is done inside its kernel.
  bool prologue[2] = {false, false};
};

// Instructions made later, as kernels replace their members, count as stored.
class FusionChains {
 public:
  // `order`: operands before users. `prologues`: which work may be done in
  // front of a product.
  FusionChains(absl::Span<Instruction* const> order,
               const ProloguePolicy& prologues);

  const FusionNode& node(const Instruction* i) const {
    const int number = NumberOf(i);
    return number < 0 ? stored_ : nodes_[number];
  }

  // May the work of an elementwise instruction run on a dot's result while it
  // is in registers? Beside arrays of its own shape it may read scalars and
  // 1-D arrays along the minor dimension.
  bool EpilogueFits(const Instruction& i) const;

 private:
  void Describe(const Instruction& i);
  bool MayBeDoneAgain(const Instruction& i, const FusionNode& node) const;
  bool ReplacesItsInput(const Instruction& i) const;
  // A mask whose readers, or what is made of them in the same loop, read
  // `source` anyway: made of it there again, neither stored nor loaded. So does
  // the TPU compiler with the gradient of an activation behind a normalisation.
  bool IsReadWith(const Instruction& mask, const Instruction& source) const;
  // A mask of an array that lives as long for a product and the gradient of its
  // weights, and that takes no longer to load than the mask to store and load.
  bool IsKeptForProducts(const Instruction& mask,
                         const Instruction& source) const;
  bool IsMadeOf(const Instruction* i, const Instruction& source) const;
  // A bf16 vector widened for sums of products with it alone: in their kernels.
  bool IsWidenedForSums(const Instruction& i) const;
  bool PrologueFits(const Instruction& dot, int operand) const;
  bool ConvertsFit(const Instruction& value) const;
  bool ArithmeticFits(const Instruction& dot, int operand) const;
  // Work behind a value that dots alone read, each as one operand, and that
  // nobody else needs: it is done there, whatever it reads. Where there are
  // several dots (a gradient by inputs and one by weights), only of arrays
  // beyond VMEM, and if they read no more so than if it were stored.
  void Claim(const Instruction& value);
  // Of each dot that reads `value`, and nothing but dots does, as its operand.
  static bool AllUses(const Instruction& value,
                      absl::FunctionRef<bool(const Instruction&, int)> holds);
  bool NeedsMemory(const Instruction& i) const;
  // What the position of an extremum alone is made of is done in its kernel:
  // predicates are smaller than the values that they are made of.
  void ClaimPosition(const Instruction& reduce);

  int NumberOf(const Instruction* i) const {
    return i->id() < static_cast<int>(number_.size()) ? number_[i->id()] : -1;
  }

  std::vector<FusionNode> nodes_;
  std::vector<int> number_;    // by instruction id; -1: not there
  std::vector<bool> claimed_;  // by number
  std::vector<bool> of_position_;
  const ProloguePolicy prologues_;
  const FusionNode stored_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_CHAINS_H_
