// One operation of the lazy graph, immutable once made. Counted by the values
// that refer to it: a graph lives as long as tensors that need it.
//
//   Value sum = ...;                       // output 0 of an aten::add node
//   sum.shape().ToString()                 // "f32[8,128]{1,0}"
//   sum.node->operand(0).node->kind()      // OpKind::kDeviceData
//
// Hashes follow PyTorch/XLA (csrc/ir.cpp): node_hash = kind with attributes;
// dag_hash = node_hash combined with the hashes of the operands, so that making
// a node costs O(operands). A leaf's hash takes in its shape; an inner node's
// shape is implied.
#ifndef PTXLA_LAZY_NODE_H_
#define PTXLA_LAZY_NODE_H_

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "absl/types/span.h"
#include "boost/smart_ptr/intrusive_ptr.hpp"
#include "lazy/attributes.h"
#include "lazy/op_kind.h"
#include "lazy/tensor_shape.h"

namespace ptxla::lazy {

class Node;
void intrusive_ptr_add_ref(const Node* node);
void intrusive_ptr_release(const Node* node);
using NodePtr = boost::intrusive_ptr<const Node>;

// One output of a node.
struct Value {
  NodePtr node;
  int index = 0;

  explicit operator bool() const { return node != nullptr; }
  const TensorShape& shape() const;
  PrimitiveType type() const { return shape().type(); }
  uint64_t hash() const;
  bool operator==(const Value& o) const {
    return node == o.node && index == o.index;
  }
};

// Which part of the user's program made a node. Layers name themselves
// ("bert.encoder.layer.3.output"); file and line are where the layer's code is.
// Both strings outlive the node.
struct Origin {
  const std::string* scope = nullptr;  // nullptr: none
  const char* file = nullptr;          // nullptr: unknown
  int line = 0;
  bool backward = false;  // made by autograd on behalf of the scope
};

class Node {
 public:
  using Operands = absl::InlinedVector<Value, 3>;

  Node(OpKind kind, Operands operands, TensorShape shape, NodeAttrs attrs,
       Origin origin);
  // Several outputs.
  Node(OpKind kind, Operands operands, std::vector<TensorShape> shapes,
       NodeAttrs attrs, Origin origin);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;

  OpKind kind() const { return kind_; }
  const Operands& operands() const { return operands_; }
  const Value& operand(int i) const { return operands_[i]; }
  int num_outputs() const {
    return more_ ? static_cast<int>(more_->size()) + 1 : 1;
  }
  const TensorShape& shape(int i = 0) const {
    return i == 0 ? shape_ : (*more_)[i - 1];
  }
  template <class T>
  const T& attrs() const {
    return std::get<T>(attrs_);
  }
  const NodeAttrs& attributes() const { return attrs_; }
  const Origin& origin() const { return origin_; }

  uint64_t dag_hash() const { return dag_hash_; }

  // Scratch of whoever walks a graph; kUnmarked between walks. A graph is
  // walked by one thread at a time.
  static constexpr int kUnmarked = -1;
  int& mark() const { return mark_; }

 private:
  friend void intrusive_ptr_add_ref(const Node* node);
  friend void intrusive_ptr_release(const Node* node);
  ~Node() = default;
  void ComputeHashes();

  OpKind kind_;
  mutable uint32_t references_ = 0;
  mutable int mark_ = kUnmarked;
  uint64_t node_hash_ = 0, dag_hash_ = 0;
  mutable Operands operands_;  // emptied when the node dies
  TensorShape shape_;
  std::unique_ptr<std::vector<TensorShape>> more_;  // outputs 1, 2 ...
  NodeAttrs attrs_;
  Origin origin_;
};

inline const TensorShape& Value::shape() const { return node->shape(index); }

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_NODE_H_
