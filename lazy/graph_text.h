// The text form of a lazy graph (`.lazy`): PyTorch/XLA's IR text plus what it
// leaves out, so that it can be read back.
//
//   IR {
//     %0 = f32[64,784]{1,0} xla::device_data(), data=0, label="images"
//     %1 = f32[] xla::device_data(), data=1, value=0.9
//     %2 = f32[784,64]{0,1} aten::permute(%0), dims={1,0}, scope="layer.0"
//     %7 = (f32[1,4,8]{2,1,0}, f32[4]{0}) aten::…(%3, %5.1), eps=1e-12, ROOT=0
//   }
//
// Nodes in post-order; `%5.1` is output 1 of node 5; `ROOT=2` says that root 2
// is the node's output 0, `ROOT=2.1` its output 1; leaves with equal `data`
// share a buffer. Attributes: dims, keepdim, starts, limits, eps, ignore_index,
// value, groups, scale, pin_layout; label, read_only, donate of a buffer;
// scope, at (file:line), backward of any node.
#ifndef PTXLA_LAZY_GRAPH_TEXT_H_
#define PTXLA_LAZY_GRAPH_TEXT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/container/node_hash_set.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "lazy/graph.h"

namespace ptxla::lazy {

// The buffers of the parameters `donors` (SyncGraph::donors) are marked donate.
std::string PrintGraph(const Graph& graph, absl::Span<const int> donors = {});

struct ParsedGraph {
  // Scopes and file names that the nodes point at.
  std::unique_ptr<absl::node_hash_set<std::string>> strings;
  Graph graph;
};

// The parameters whose buffers are marked donate: SyncGraph::donors of a graph
// that was read from text.
std::vector<int> MarkedDonors(const Graph& graph);

// InvalidArgument with line number, also for a node that breaks the rules of
// its operation (check_node.h). PrintGraph of the result is the text, unless it
// holds nodes that no root needs.
absl::StatusOr<ParsedGraph> ParseGraph(absl::string_view text);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_GRAPH_TEXT_H_
