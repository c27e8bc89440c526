// The lazy graph as HLO, instruction for instruction as PyTorch/XLA 2.9 emits
// it (its redundant reshapes, broadcasts and dead constants included: the
// compiler's work starts from there).
//
//   ASSIGN_OR_RETURN(auto module, LowerToHlo(graph, {}));
//   module->name() == "SyncTensorsGraph.314"
//
// - Parameters p0, p1 ... in order of first use; instruction names end in the
//   number of their emission; the root is always a tuple; every reduction has
//   its own computation.
// - Layouts are those of XLA's shape inference. Without `row_major_results` the
//   result keeps them (the module is named IrToHlo, what PyTorch/XLA's dumps
//   show); with it the entry layout asks for row-major results, what it
//   compiles.
// - Metadata: op_type "aten__addmm"; op_name "encoder.3.ffn/aten__addmm", with
//   "/backward" after the scope for what autograd made; file and line of the
//   layer.
#ifndef PTXLA_LAZY_LOWERING_H_
#define PTXLA_LAZY_LOWERING_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/module.h"
#include "lazy/graph.h"

namespace ptxla::lazy {

struct LoweringOptions {
  std::string name = "SyncTensorsGraph";
  bool row_major_results = true;
  bool metadata = true;
  std::vector<int> donors;    // SyncGraph::donors
  int64_t replica_count = 0;  // 0: as many as the collectives name
};

// What PyTorch/XLA's HLO dump of pending tensors shows.
inline LoweringOptions DumpForm() { return {"IrToHlo", false, false, {}, 1}; }

// Unimplemented, naming the node, for a combination of operands that has no
// lowering.
absl::StatusOr<std::unique_ptr<hlo::Module>> LowerToHlo(
    const Graph& graph, const LoweringOptions& options);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_LOWERING_H_
