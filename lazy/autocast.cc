#include "lazy/autocast.h"

#include "lazy/ops.h"

namespace ptxla::lazy {

Autocast::Autocast(Device* device, bool enabled)
    : device_(device), outer_(device->autocast()) {
  device_->set_autocast(enabled ? this : nullptr);
}

Autocast::~Autocast() { device_->set_autocast(outer_); }

Tensor Autocast::ToBf16(const Tensor& x) {
  if (x.type() != PrimitiveType::kF32) return x;
  const bool is_weight = x.is_leaf() && x.requires_grad();
  if (!is_weight) return ops::Cast(x, PrimitiveType::kBf16);
  Tensor& cast = casts_[x.id()];
  if (!cast.defined()) cast = ops::Cast(x, PrimitiveType::kBf16);
  return cast;
}

Tensor AutocastToBf16(const Tensor& x) {
  Autocast* autocast = x.device()->autocast();
  return autocast ? autocast->ToBf16(x) : x;
}

Tensor AutocastToF32(const Tensor& x) {
  if (x.device()->autocast() == nullptr || !hlo::IsFloat(x.type())) return x;
  return ops::Cast(x, PrimitiveType::kF32);
}

}  // namespace ptxla::lazy
