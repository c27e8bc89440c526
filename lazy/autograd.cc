#include "lazy/autograd.h"

#include <queue>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy {
namespace {

using GradFnPtr = std::shared_ptr<GradFn>;

// Every function that the root reaches learns how many gradients it waits for.
void CountMissing(GradFn* root) {
  absl::flat_hash_set<GradFn*> seen = {root};
  std::vector<GradFn*> stack = {root};
  while (!stack.empty()) {
    GradFn* fn = stack.back();
    stack.pop_back();
    for (const GradEdge& edge : fn->edges) {
      if (!edge.fn) continue;
      ++edge.fn->missing;
      if (seen.insert(edge.fn.get()).second) stack.push_back(edge.fn.get());
    }
  }
}

// at::sum_to and the cast of the engine's validate_outputs.
Tensor Fit(Tensor grad, const TensorShape& to) {
  if (!grad.shape().SameDims(to)) grad = ops::SumTo(grad, to.dims());
  if (grad.type() != to.type()) grad = ops::Cast(grad, to.type());
  return grad;
}

void Accumulate(GradFn* fn) {
  if (!fn->received[0].defined()) return;
  const Tensor& grad = fn->variable.grad();
  fn->variable.set_grad(grad.defined() ? ops::Add(grad, fn->received[0])
                                       : fn->received[0].Detach());
}

struct Ready {
  GradFnPtr fn;
  int64_t arrival;  // breaks ties of accumulators
  bool operator<(const Ready& o) const {
    if (fn->sequence != o.fn->sequence) return fn->sequence < o.fn->sequence;
    return arrival > o.arrival;
  }
};

}  // namespace

void Backward(const Tensor& root_tensor, const Tensor& grad) {
  const GradFnPtr root = TensorInternals::History(root_tensor);
  CHECK(root != nullptr) << "Backward() of a tensor without history";
  CHECK(grad.defined() || root_tensor.shape().IsScalar())
      << "Backward() of an array needs its gradient";
  Device* device = root_tensor.device();
  const NoGrad no_grad(device);
  const Origin caller = device->origin();
  CountMissing(root.get());
  root->received.resize(root->outputs.size());
  root->received[TensorInternals::OutputNumber(root_tensor)] =
      grad.defined()
          ? grad
          : Tensor::FromValue(device, ir::Full(device, 1, root_tensor.shape()));
  std::priority_queue<Ready> ready;
  int64_t arrivals = 0;
  ready.push({root, arrivals++});
  while (!ready.empty()) {
    const GradFnPtr fn = ready.top().fn;
    ready.pop();
    device->set_origin(fn->origin);
    if (fn->sequence == GradFn::kAccumulate) {
      Accumulate(fn.get());
      fn->received.clear();
      continue;
    }
    CHECK(fn->rule) << "Backward() through a graph that was used before";
    GradList grads = fn->rule({fn->edges, fn->received});
    fn->rule = nullptr;
    fn->received.clear();
    CHECK_EQ(grads.size(), fn->edges.size());
    // All results are fitted before any is handed on, as the engine does.
    for (size_t i = 0; i < grads.size(); ++i) {
      const GradEdge& edge = fn->edges[i];
      if (!edge.fn || !grads[i].defined()) continue;
      grads[i] = Fit(std::move(grads[i]), edge.fn->outputs[edge.slot]);
    }
    for (size_t i = 0; i < grads.size(); ++i) {
      const GradEdge& edge = fn->edges[i];
      if (!edge.fn) continue;
      GradFn& next = *edge.fn;
      next.received.resize(next.outputs.size());
      if (Tensor& slot = next.received[edge.slot]; grads[i].defined()) {
        slot = slot.defined() ? ops::Add(slot, grads[i]) : std::move(grads[i]);
      }
      if (--next.missing == 0) ready.push({edge.fn, arrivals++});
    }
    fn->edges.clear();
  }
  device->set_origin(caller);
}

}  // namespace ptxla::lazy
