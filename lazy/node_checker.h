// The rules of CheckNode(), kind by kind: check_node.cc decides which apply.
#ifndef PTXLA_LAZY_NODE_CHECKER_H_
#define PTXLA_LAZY_NODE_CHECKER_H_

#include <string>

#include "lazy/node.h"

namespace ptxla::lazy {

// Collects the first broken rule of a node.
class NodeChecker {
 public:
  explicit NodeChecker(const Node& node) : node_(node) {}

  std::string Run();  // "" if all is well

 private:
  const TensorShape& In(int i) const { return node_.operand(i).shape(); }
  const TensorShape& Out() const { return node_.shape(); }
  const DimVector& Dims() const { return node_.attrs<DimsAttrs>().dims; }

  void Expect(bool condition, const char* rule) {
    if (!condition && broken_.empty()) broken_ = rule;
  }
  void ExpectDims(const TensorShape& shape, const DimVector& dims) {
    Expect(shape.dims() == dims, "the result has other dimensions");
  }
  void ExpectOutputs(int n) {
    Expect(node_.num_outputs() == n, "wrong number of results");
  }
  void ExpectScalar(int i) { Expect(In(i).IsScalar(), "not a scalar"); }
  // The broadcast of two shapes; empty and an error when there is none.
  DimVector Broadcast(const TensorShape& a, const TensorShape& b);
  void ExpectSame(const TensorShape& a, const TensorShape& b) {
    Expect(a.SameDims(b), "operands have different dimensions");
    Expect(a.type() == b.type(), "operands have different types");
  }
  void ExpectBroadcast(const TensorShape& a, const TensorShape& b,
                       PrimitiveType type);

  void CheckMovement();
  void CheckSlice();
  void CheckElementwise();
  void CheckReduction();
  void CheckNorm();
  void CheckProduct();
  void CheckConvolution();
  void CheckPool();
  void CheckIndexing();
  void CheckCollective();

  const Node& node_;
  std::string broken_;
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_NODE_CHECKER_H_
