// What each instruction of a computation is to fusion.
//
//   FusionNodes nodes(computation->PostOrder());
//   if (nodes.of(i).role == FusionRole::kReduce) ...
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_NODES_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_NODES_H_

#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

enum class FusionRole : uint8_t {
  kStored,       // parameter, data movement, call …: a value in memory
  kFree,         // constant, broadcast, iota, lanes or tiles of an array: made
                 // again where it is needed
  kElementwise,  // a vector loop
  kReduce,       // may end a kInput fusion
  kDot,          // may be the centre of a kOutput fusion
};

struct FusionNode {
  // Work that is done again is bounded, so that kernels stay small.
  static constexpr int kMostOperations = 32;

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
class FusionNodes {
 public:
  // With their roles and nothing else.
  explicit FusionNodes(absl::Span<Instruction* const> order);

  const FusionNode& of(const Instruction* i) const {
    const int number = NumberOf(i);
    return number < 0 ? stored_ : nodes_[number];
  }
  // Of an instruction of `order`.
  FusionNode& operator[](const Instruction* i) { return nodes_[NumberOf(i)]; }

 private:
  int NumberOf(const Instruction* i) const {
    return i->id() < static_cast<int>(number_.size()) ? number_[i->id()] : -1;
  }

  std::vector<FusionNode> nodes_;
  std::vector<int> number_;  // by instruction id; -1: not there
  const FusionNode stored_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_NODES_H_
