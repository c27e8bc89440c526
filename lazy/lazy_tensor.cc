#include "lazy/lazy_tensor.h"

#include <utility>

#include "base/check.h"
#include "lazy/device.h"

namespace ptxla::lazy {

LazyTensor::LazyTensor(Device* device, int64_t id, TensorShape shape)
    : device_(device), id_(id), alias_id_(id), shape_(std::move(shape)) {
  device_->Link(this);
}

LazyTensor::~LazyTensor() { device_->Unlink(this); }

const Value& LazyTensor::ir() {
  if (!ir_) {
    CHECK(data_ != nullptr) << "tensor " << id_ << " has no value";
    data_->tensor_id = id_;
    ir_ = device_->DataNode(data_);
  }
  return ir_;
}

void LazyTensor::SetIr(Value value) {
  shape_ = value.shape();
  ir_ = std::move(value);
  data_ = nullptr;
}

void LazyTensor::SetData(DeviceDataPtr data) {
  shape_ = data->shape();
  data_ = std::move(data);
  ir_ = Value();
}

}  // namespace ptxla::lazy
