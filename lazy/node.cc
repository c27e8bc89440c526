#include "lazy/node.h"

#include "base/check.h"
#include "base/hash.h"

namespace ptxla::lazy {

void intrusive_ptr_add_ref(const Node* node) { ++node->references_; }

void intrusive_ptr_release(const Node* node) {
  if (--node->references_ > 0) return;
  // A chain of nodes can be as long as a program: free it with a list instead
  // of by recursion.
  std::vector<const Node*> dead = {node};
  while (!dead.empty()) {
    const Node* n = dead.back();
    dead.pop_back();
    for (Value& operand : n->operands_) {
      const Node* child = operand.node.detach();
      if (child != nullptr && --child->references_ == 0) dead.push_back(child);
    }
    delete n;
  }
}

uint64_t Value::hash() const {
  return index == 0 ? node->dag_hash() : HashCombine(node->dag_hash(), index);
}

Node::Node(OpKind kind, Operands operands, TensorShape shape, NodeAttrs attrs,
           Origin origin)
    : kind_(kind),
      operands_(std::move(operands)),
      shape_(std::move(shape)),
      attrs_(std::move(attrs)),
      origin_(origin) {
  ComputeHashes();
}

Node::Node(OpKind kind, Operands operands, std::vector<TensorShape> shapes,
           NodeAttrs attrs, Origin origin)
    : kind_(kind),
      operands_(std::move(operands)),
      attrs_(std::move(attrs)),
      origin_(origin) {
  CHECK(!shapes.empty());
  shape_ = std::move(shapes.front());
  shapes.erase(shapes.begin());
  if (!shapes.empty()) {
    more_ = std::make_unique<std::vector<TensorShape>>(std::move(shapes));
  }
  ComputeHashes();
}

void Node::ComputeHashes() {
  node_hash_ = HashCombine(static_cast<uint64_t>(kind_) + 1, HashOf(attrs_));
  if (operands_.empty()) node_hash_ = HashCombine(node_hash_, shape_.Hash());
  dag_hash_ = node_hash_;
  for (const Value& operand : operands_) {
    dag_hash_ = HashCombine(dag_hash_, operand.hash());
  }
}

}  // namespace ptxla::lazy
