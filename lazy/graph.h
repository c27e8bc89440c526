// The part of the lazy graph that some values need, in the order in which it is
// lowered, and what a compile cache asks about it.
//
//   Graph graph = MakeGraph(roots);
//   graph.nodes        // post-order: operands before users
//   graph.parameters   // distinct buffers in order of first use: p0, p1 ...
//   StructureHash(graph)
#ifndef PTXLA_LAZY_GRAPH_H_
#define PTXLA_LAZY_GRAPH_H_

#include <cstdint>
#include <vector>

#include "lazy/node.h"

namespace ptxla::lazy {

struct Graph {
  std::vector<Value> roots;
  std::vector<const Node*> nodes;
  std::vector<DeviceDataPtr> parameters;
  // Per leaf of `nodes` in order: which of `parameters` it is.
  std::vector<int> parameter_sequence;
};

// The walk of PyTorch's lazy core (Util::ComputePostOrder): roots in their
// order, of each node the last operand first. Linear time.
Graph MakeGraph(std::vector<Value> roots);

// Depends on the roots' hashes in order and on which leaves share a buffer.
// Equal over steps; other shapes, attributes or sharing give another value.
uint64_t StructureHash(const Graph& graph);

// The position of every node in `graph.nodes`, while this object lives (one at
// a time: it uses the nodes' marks).
class NodeNumbers {
 public:
  explicit NodeNumbers(const Graph& graph);
  ~NodeNumbers();
  NodeNumbers(const NodeNumbers&) = delete;
  NodeNumbers& operator=(const NodeNumbers&) = delete;

  int operator[](const Node* node) const { return node->mark(); }

 private:
  const Graph& graph_;
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_GRAPH_H_
