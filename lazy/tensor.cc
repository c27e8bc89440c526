#include "lazy/tensor.h"

#include <utility>

#include "base/check.h"
#include "lazy/grad_fn.h"
#include "lazy/ir.h"

namespace ptxla::lazy {
// What a base and its views share.
struct Aliases {
  LazyTensorPtr base;  // current value of the base
  int generation = 0;  // in-place updates so far
};

namespace {

Value Apply(Device* d, const ViewStep& step, const Value& x) {
  switch (step.kind) {
    case OpKind::kView:
      return ir::View(d, x, step.dims);
    case OpKind::kPermute:
      return ir::Permute(d, x, step.dims);
    case OpKind::kExpand:
      return ir::Expand(d, x, step.dims);
    case OpKind::kGenericSlice:
      return ir::GenericSlice(d, x, step.dims, step.limits);
    case OpKind::kSelect:
      for (int i = 0; i < x.shape().rank(); ++i) {
        if (step.dims[i] != 0 || step.limits[i] != x.shape().dim(i)) {
          return ir::Select(d, x, i, step.dims[i], step.limits[i]);
        }
      }
      return ir::Select(d, x, 0, 0, x.shape().dim(0));
    default:
      CHECK(false) << OpName(step.kind) << " is no view";
      return x;
  }
}

// What the step's input becomes when its result is set to `updated`.
Value Undo(Device* d, const ViewStep& step, const Value& input,
           const Value& updated) {
  switch (step.kind) {
    case OpKind::kView:
      return ir::View(d, updated, input.shape().dims());
    case OpKind::kPermute: {
      DimVector inverse(step.dims.size());
      for (size_t i = 0; i < inverse.size(); ++i) inverse[step.dims[i]] = i;
      return ir::Permute(d, updated, std::move(inverse));
    }
    case OpKind::kGenericSlice:
      return ir::UpdateSlice(d, input, updated, step.dims);
    case OpKind::kSelect:
      return ir::Unselect(d, input, updated, step.dims, step.limits);
    default:
      CHECK(false) << "in-place update of a view by " << OpName(step.kind);
      return input;
  }
}

}  // namespace

struct Tensor::Impl {
  LazyTensorPtr value;
  std::shared_ptr<Aliases> aliases;  // null: no view, no update yet
  std::vector<ViewStep> steps;       // from the base; none: it is the base
  int generation = 0;                // that `value` was made at

  bool requires_grad = false;
  std::shared_ptr<GradFn> history;
  int output_number = 0;
  std::weak_ptr<GradFn> accumulator;
  Tensor grad;

  Aliases& EnsureAliases() {
    if (!aliases) {
      aliases = std::make_shared<Aliases>();
      aliases->base = value;
    }
    return *aliases;
  }
  void BringUpToDate() {
    if (!aliases || generation == aliases->generation) return;
    generation = aliases->generation;
    if (steps.empty()) {
      value = aliases->base;
      return;
    }
    Device* device = value->device();
    Value v = aliases->base->ir();
    for (const ViewStep& step : steps) v = Apply(device, step, v);
    value = device->MakeTensor(std::move(v));
  }
  // The base gets the new elements; this view holds them already.
  void UpdateThroughBase(Value updated) {
    Device* device = value->device();
    std::vector<Value> inputs = {aliases->base->ir()};
    for (size_t i = 0; i + 1 < steps.size(); ++i) {
      inputs.push_back(Apply(device, steps[i], inputs.back()));
    }
    value = device->MakeTensor(updated);
    for (size_t i = steps.size(); i-- > 0;) {
      updated = Undo(device, steps[i], inputs[i], updated);
    }
    LazyTensorPtr base = device->MakeTensor(std::move(updated));
    base->set_label(aliases->base->label());
    aliases->base = std::move(base);
    generation = ++aliases->generation;
  }
};

Tensor Tensor::FromValue(Device* device, Value value) {
  Tensor t;
  t.impl_ = std::make_shared<Impl>();
  t.impl_->value = device->MakeTensor(std::move(value));
  return t;
}

Tensor Tensor::FromHost(Device* device, TensorShape shape, HostValue value,
                        std::string label) {
  DeviceDataPtr data = device->MakeData(std::move(shape), std::move(value));
  data->label = label;
  Tensor t;
  t.impl_ = std::make_shared<Impl>();
  t.impl_->value = device->MakeTensor(std::move(data));
  t.impl_->value->set_label(std::move(label));
  return t;
}

Device* Tensor::device() const { return impl_->value->device(); }

const TensorShape& Tensor::shape() const { return impl_->value->shape(); }

int64_t Tensor::dim(int i) const { return shape().dim(i < 0 ? i + rank() : i); }

Value Tensor::ir() const { return lazy()->ir(); }

const LazyTensorPtr& Tensor::lazy() const {
  CHECK(defined());
  impl_->BringUpToDate();
  return impl_->value;
}

const std::string& Tensor::label() const { return impl_->value->label(); }

void Tensor::Update(Value value) const {
  impl_->BringUpToDate();
  device()->NoteInPlace(value);
  if (!impl_->steps.empty()) {
    impl_->UpdateThroughBase(std::move(value));
    return;
  }
  LazyTensor& old = *impl_->value;
  LazyTensorPtr updated = device()->MakeTensor(std::move(value));
  updated->set_alias_id(old.data() ? old.id() : old.alias_id());
  updated->set_label(old.label());
  Aliases& aliases = impl_->EnsureAliases();
  impl_->value = aliases.base = std::move(updated);
  impl_->generation = ++aliases.generation;
}

void Tensor::ReplaceValue(Value value) const {
  lazy()->SetIr(std::move(value));
}

void Tensor::Load(HostValue value) const {
  CHECK(impl_->steps.empty() && !impl_->history);
  impl_->BringUpToDate();
  DeviceDataPtr data = device()->MakeData(shape(), std::move(value));
  data->label = label();
  impl_->value->SetData(std::move(data));
}

bool Tensor::requires_grad() const {
  return defined() && (impl_->requires_grad || impl_->history != nullptr);
}

void Tensor::set_requires_grad(bool requires_grad) const {
  CHECK(is_leaf()) << "only a leaf can be told to require a gradient";
  impl_->requires_grad = requires_grad;
}

bool Tensor::is_leaf() const { return impl_->history == nullptr; }

const Tensor& Tensor::grad() const { return impl_->grad; }

void Tensor::set_grad(Tensor grad) const { impl_->grad = std::move(grad); }

void Tensor::clear_grad() const { impl_->grad = Tensor(); }

Tensor Tensor::Detach() const {
  impl_->EnsureAliases();
  Tensor t;
  t.impl_ = std::make_shared<Impl>();
  t.impl_->value = impl_->value;
  t.impl_->aliases = impl_->aliases;
  t.impl_->steps = impl_->steps;
  t.impl_->generation = impl_->generation;
  return t;
}

Tensor TensorInternals::MakeView(const Tensor& base,
                                 std::vector<ViewStep> steps) {
  // As PyTorch: the view's value is made at once from the base tensor's value,
  // and counts as made before any update.
  Device* device = base.device();
  Tensor t;
  t.impl_ = std::make_shared<Tensor::Impl>();
  Value v = base.impl_->value->ir();
  for (const ViewStep& step : steps) v = Apply(device, step, v);
  t.impl_->value = device->MakeTensor(std::move(v));
  base.impl_->EnsureAliases();
  t.impl_->aliases = base.impl_->aliases;
  t.impl_->steps = base.impl_->steps;
  t.impl_->steps.insert(t.impl_->steps.end(),
                        std::make_move_iterator(steps.begin()),
                        std::make_move_iterator(steps.end()));
  return t;
}

void TensorInternals::SetHistory(const Tensor& t, std::shared_ptr<GradFn> fn,
                                 int output) {
  t.impl_->history = std::move(fn);
  t.impl_->output_number = output;
}

const std::shared_ptr<GradFn>& TensorInternals::History(const Tensor& t) {
  return t.impl_->history;
}

int TensorInternals::OutputNumber(const Tensor& t) {
  return t.impl_->output_number;
}

std::weak_ptr<GradFn>& TensorInternals::Accumulator(const Tensor& t) {
  return t.impl_->accumulator;
}

}  // namespace ptxla::lazy
