#include "lazy/graph.h"

#include "absl/container/flat_hash_map.h"
#include "base/check.h"
#include "base/hash.h"

namespace ptxla::lazy {
namespace {

constexpr int kOpen = -2;  // on the stack, operands not all emitted

}  // namespace

Graph MakeGraph(std::vector<Value> roots) {
  Graph graph;
  graph.roots = std::move(roots);
  std::vector<const Node*> stack;
  for (const Value& root : graph.roots) {
    stack.push_back(root.node.get());
    while (!stack.empty()) {
      const Node* node = stack.back();
      int& mark = node->mark();
      if (mark == Node::kUnmarked) {
        mark = kOpen;
        for (const Value& operand : node->operands()) {
          const Node* child = operand.node.get();
          if (child->mark() == Node::kUnmarked) {
            stack.push_back(child);
          } else {
            CHECK_NE(child->mark(), kOpen) << "a loop in the lazy graph";
          }
        }
        continue;
      }
      if (mark == kOpen) {
        mark = static_cast<int>(graph.nodes.size());
        graph.nodes.push_back(node);
      }
      stack.pop_back();
    }
  }
  for (const Node* node : graph.nodes) node->mark() = Node::kUnmarked;
  absl::flat_hash_map<const DeviceData*, int> index;
  for (const Node* node : graph.nodes) {
    if (node->kind() != OpKind::kDeviceData) continue;
    const DeviceDataPtr& data = node->attrs<DataAttrs>().data;
    const auto [it, is_new] = index.try_emplace(
        data.get(), static_cast<int>(graph.parameters.size()));
    if (is_new) graph.parameters.push_back(data);
    graph.parameter_sequence.push_back(it->second);
  }
  return graph;
}

uint64_t StructureHash(const Graph& graph) {
  Fingerprint f;
  for (const Value& root : graph.roots) {
    f.Add(static_cast<int64_t>(root.hash()));
  }
  for (int p : graph.parameter_sequence) f.Add(int64_t{p});
  return f.value();
}

NodeNumbers::NodeNumbers(const Graph& graph) : graph_(graph) {
  int next = 0;
  for (const Node* node : graph.nodes) {
    CHECK_EQ(node->mark(), Node::kUnmarked);
    node->mark() = next++;
  }
}

NodeNumbers::~NodeNumbers() {
  for (const Node* node : graph_.nodes) node->mark() = Node::kUnmarked;
}

}  // namespace ptxla::lazy
