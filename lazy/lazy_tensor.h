// A value slot on the device, what PyTorch/XLA calls XLATensor: it holds either
// a buffer or the lazy value that will become one at the next step barrier.
// Every result of an operation gets a new one; unique ids rise with age, and a
// step barrier writes the live ones in that order.
#ifndef PTXLA_LAZY_LAZY_TENSOR_H_
#define PTXLA_LAZY_LAZY_TENSOR_H_

#include <cstdint>
#include <string>
#include <utility>

#include "boost/smart_ptr/intrusive_ptr.hpp"
#include "lazy/device_data.h"
#include "lazy/node.h"

namespace ptxla::lazy {

class Device;

class LazyTensor {
 public:
  // Made by Device::MakeTensor.
  LazyTensor(Device* device, int64_t id, TensorShape shape);
  ~LazyTensor();
  LazyTensor(const LazyTensor&) = delete;
  LazyTensor& operator=(const LazyTensor&) = delete;

  Device* device() const { return device_; }
  int64_t id() const { return id_; }
  // Whose buffer this value may overwrite: the id of the tensor that an
  // in-place update replaced, across any number of updates since the barrier.
  int64_t alias_id() const { return alias_id_; }
  void set_alias_id(int64_t id) { alias_id_ = id; }
  const TensorShape& shape() const { return shape_; }
  // Who it is for memory reports; goes over to the buffers it gets.
  const std::string& label() const { return label_; }
  void set_label(std::string label) { label_ = std::move(label); }

  const DeviceDataPtr& data() const { return data_; }  // null: pending
  // The lazy value; a buffer gets its leaf on first use and keeps it.
  const Value& ir();
  bool has_pending_ir() const { return !data_ && static_cast<bool>(ir_); }
  const Value& pending_ir() const { return ir_; }

  // The tensor is this value from here on.
  void SetIr(Value value);
  // The tensor has been computed (or will be, into this buffer).
  void SetData(DeviceDataPtr data);

  // Neighbours in the device's list of live tensors, by age.
  LazyTensor* next() const { return next_; }

 private:
  friend class Device;
  friend void intrusive_ptr_add_ref(LazyTensor* t) { ++t->references_; }
  friend void intrusive_ptr_release(LazyTensor* t) {
    if (--t->references_ == 0) delete t;
  }

  Device* device_;
  int64_t id_, alias_id_;
  TensorShape shape_;
  std::string label_;
  DeviceDataPtr data_;
  Value ir_;
  LazyTensor* previous_ = nullptr;
  LazyTensor* next_ = nullptr;
  uint32_t references_ = 0;
};

using LazyTensorPtr = boost::intrusive_ptr<LazyTensor>;

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_LAZY_TENSOR_H_
