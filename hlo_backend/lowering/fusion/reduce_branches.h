// Additions of one register wait for each other. Where a block has fewer chains
// of them than an addition takes cycles (a sum of all elements has one), each
// chain has branches that take turns and meet at the end, as in the TPU
// compiler: a bundle an addition, not two.
//
//   branches.Begin({&sum}, start);
//   branches.Add(sum, 0, x, true, &chain);   // the next to its branch ...
//   ASSIGN_OR_RETURN(chain, branches.Meet(sum, 0, chain));
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_BRANCHES_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_BRANCHES_H_

#include <cstddef>
#include <functional>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

class ReduceBranches {
 public:
  explicit ReduceBranches(codegen::CodeBuilder& b) : b_(b) {}

  // A region begins whose chains are of these reductions. `start` makes the
  // register that a branch begins with, or none where its first value will do.
  void Begin(const std::vector<const Reduction*>& chains,
             const std::function<codegen::Vec(const Reduction&)>& start);
  // To a chain, whose own register is `trunk`. `local`: all of it is one block.
  absl::Status Add(const Reduction& r, size_t chain, codegen::Vec value,
                   bool local, codegen::Vec* trunk);
  // All that a chain has come to.
  absl::StatusOr<codegen::Vec> Meet(const Reduction& r, size_t chain,
                                    codegen::Vec trunk);

 private:
  codegen::CodeBuilder& b_;
  size_t ways_ = 1;  // the chain itself and its branches
  std::vector<codegen::Vec> branches_;
  std::vector<size_t> turn_;  // per chain
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_BRANCHES_H_
