// Finds the clusters of reshape_mover.h, and the shape that suits each best.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_ELEMENTWISE_CLUSTERS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_ELEMENTWISE_CLUSTERS_H_

#include <vector>

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/layout/dimension_cuts.h"

namespace ptxla::hlo {

struct ElementwiseCluster {
  std::vector<Instruction*> members;  // operands first
  DimVector dims;                     // chosen for all of them
};

// Those with two shapes or more, or dimensions of size 1: where there is
// something to do.
std::vector<ElementwiseCluster> FindElementwiseClusters(
    const Computation& computation);

// Elementwise with operands of its own dimensions, or a reshape that keeps
// the minor dimension: a member of a cluster.
bool IsClusterMember(const Instruction& instruction);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_ELEMENTWISE_CLUSTERS_H_
