// The handle that models are written with, what torch.Tensor is to a model: a
// value, its place in autograd's graph, and what is needed to make in-place
// updates and views functional.
//
//   Tensor w = Tensor::FromHost(&device, {PrimitiveType::kF32, {64, 32}},
//                               HostValue::Uniform(-0.1, 0.1, 1));
//   w.set_requires_grad(true);
//   Tensor loss = ops::Sum(ops::Mul(w, w), {0, 1}, false);
//   Backward(loss);                       // autograd.h
//   w.grad().ir()                         // the lazy value of dloss/dw
//
// Copies share the tensor. Views: the result of a view operation remembers its
// base and how it is made from it. The base of a live view is itself live, so a
// step barrier writes it too; and when the base is updated in place, the view
// is made again from the new base at its next use, as PyTorch's
// functionalisation does (the graph then holds both makings).
#ifndef PTXLA_LAZY_TENSOR_H_
#define PTXLA_LAZY_TENSOR_H_

#include <memory>
#include <string>
#include <vector>

#include "lazy/device.h"

namespace ptxla::lazy {

struct GradFn;

class Tensor {
 public:
  Tensor() = default;  // undefined
  static Tensor FromValue(Device* device, Value value);
  static Tensor FromHost(Device* device, TensorShape shape, HostValue value,
                         std::string label = "");

  bool defined() const { return impl_ != nullptr; }
  Device* device() const;
  const TensorShape& shape() const;
  const DimVector& dims() const { return shape().dims(); }
  int64_t dim(int i) const;  // negative: from the end
  int rank() const { return shape().rank(); }
  PrimitiveType type() const { return shape().type(); }

  // The lazy value, made again if the base has changed.
  Value ir() const;
  const LazyTensorPtr& lazy() const;
  const std::string& label() const;

  // In-place update: the tensor, and every view of it, is `value` from here
  // on; the old buffer may be overwritten. An update of a view goes through to
  // its base (CHECK fails for an expanded view, whose elements share memory).
  void Update(Value value) const;
  // What a collective does to its arguments: the slot gets another value, its
  // age and its bases stay.
  void ReplaceValue(Value value) const;
  // A new buffer for a leaf without history (the next batch).
  void Load(HostValue value) const;

  // --- Autograd ---
  bool requires_grad() const;  // of a leaf, or through its history
  void set_requires_grad(bool requires_grad) const;
  bool is_leaf() const;
  const Tensor& grad() const;
  void set_grad(Tensor grad) const;
  void clear_grad() const;  // zero_grad(set_to_none=True)
  // The same value without history; shares the base.
  Tensor Detach() const;

  // Identity, for caches.
  const void* id() const { return impl_.get(); }

 private:
  friend struct TensorInternals;
  struct Impl;
  std::shared_ptr<Impl> impl_;
};

// One step from a base to its view.
struct ViewStep {
  OpKind kind;     // view, permute, expand, select or generic_slice
  DimVector dims;  // DimsAttrs, or the starts of a slice
  DimVector limits;
};

// For lazy/ops and lazy/autograd.
struct TensorInternals {
  // A tensor that is `steps` applied to `base` one after the other.
  static Tensor MakeView(const Tensor& base, std::vector<ViewStep> steps);

  static void SetHistory(const Tensor& t, std::shared_ptr<GradFn> fn,
                         int output);
  static const std::shared_ptr<GradFn>& History(const Tensor& t);
  static int OutputNumber(const Tensor& t);
  // The accumulator of a leaf, which lives as long as a graph needs it.
  static std::weak_ptr<GradFn>& Accumulator(const Tensor& t);
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_TENSOR_H_
