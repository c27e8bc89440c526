// A step of autograd's graph: how the gradients of an operation's outputs
// become gradients of its inputs.
//
//   Tensor y = Tensor::FromValue(device, ir::Mul(device, a.ir(), b.ir()));
//   RecordGrad({y}, {a, b}, [a, b](const GradCall& g) -> GradList {
//     return {g.needs(0) ? ops::Mul(g.grad(0), b) : Tensor(),
//             g.needs(1) ? ops::Mul(g.grad(0), a) : Tensor()};
//   });
//
// Sequence numbers rise with every recorded operation, as PyTorch's do: they
// decide the order in which Backward() runs what is ready.
#ifndef PTXLA_LAZY_GRAD_FN_H_
#define PTXLA_LAZY_GRAD_FN_H_

#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <vector>

#include "absl/types/span.h"
#include "lazy/tensor.h"

namespace ptxla::lazy {

using GradList = std::vector<Tensor>;

struct GradFn;

// Where a gradient goes: into slot `slot` of `fn`. No fn: nobody wants it.
struct GradEdge {
  std::shared_ptr<GradFn> fn;
  int slot = 0;
};

struct GradCall {
  const std::vector<GradEdge>& edges;
  GradList& grads;

  bool needs(int input) const { return edges[input].fn != nullptr; }
  // Gradient of an output; may be undefined.
  const Tensor& grad(int output) const { return grads[output]; }
};

using GradRule = std::function<GradList(const GradCall&)>;

struct GradFn {
  static constexpr int64_t kAccumulate = std::numeric_limits<int64_t>::max();

  GradFn() = default;
  ~GradFn();  // long chains are let go without recursion
  GradFn(const GradFn&) = delete;
  GradFn& operator=(const GradFn&) = delete;

  int64_t sequence = 0;              // kAccumulate: adds to `variable`'s grad
  std::vector<GradEdge> edges;       // per input of the operation
  std::vector<TensorShape> outputs;  // what a gradient in each slot must be
  GradRule rule;                     // saved tensors live in its captures
  Tensor variable;                   // of an accumulator
  Origin origin;

  // Scratch of Backward().
  int missing = 0;
  GradList received;
};

// Records `rule` as history of `outputs`, unless gradients are off or no input
// requires one.
void RecordGrad(absl::Span<const Tensor> outputs,
                absl::Span<const Tensor> inputs, GradRule rule);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_GRAD_FN_H_
