#include "lazy/grad_fn.h"

#include <utility>

namespace ptxla::lazy {
namespace {

GradEdge EdgeOf(const Tensor& t) {
  if (!t.requires_grad()) return {};
  if (!t.is_leaf()) {
    return {TensorInternals::History(t), TensorInternals::OutputNumber(t)};
  }
  std::weak_ptr<GradFn>& known = TensorInternals::Accumulator(t);
  std::shared_ptr<GradFn> accumulator = known.lock();
  if (!accumulator) {
    accumulator = std::make_shared<GradFn>();
    accumulator->sequence = GradFn::kAccumulate;
    accumulator->outputs = {t.shape()};
    accumulator->variable = t;
    known = accumulator;
  }
  return {std::move(accumulator), 0};
}

}  // namespace

GradFn::~GradFn() {
  std::vector<GradEdge> dead = std::move(edges);
  rule = nullptr;
  while (!dead.empty()) {
    const std::shared_ptr<GradFn> fn = std::move(dead.back().fn);
    dead.pop_back();
    if (!fn || fn.use_count() > 1) continue;
    for (GradEdge& edge : fn->edges) dead.push_back(std::move(edge));
    fn->edges.clear();
  }
}

void RecordGrad(absl::Span<const Tensor> outputs,
                absl::Span<const Tensor> inputs, GradRule rule) {
  Device* device = outputs[0].device();
  if (!device->grad_enabled()) return;
  bool wanted = false;
  for (const Tensor& t : inputs) wanted |= t.requires_grad();
  if (!wanted) return;
  auto fn = std::make_shared<GradFn>();
  fn->sequence = device->NextSequence();
  fn->rule = std::move(rule);
  fn->origin = device->origin();
  fn->origin.backward = true;
  fn->edges.reserve(inputs.size());
  for (const Tensor& t : inputs) fn->edges.push_back(EdgeOf(t));
  for (size_t i = 0; i < outputs.size(); ++i) {
    fn->outputs.push_back(outputs[i].shape());
    TensorInternals::SetHistory(outputs[i], fn, static_cast<int>(i));
  }
}

}  // namespace ptxla::lazy
