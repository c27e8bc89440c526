// The tracing side of one device: makes nodes, keeps the live tensors, the
// scalar cache, the random seed chain, the collective token and the layer
// scope. One thread uses it. Everything traced must die before it.
//
//   Device device(&executor);
//   Tensor x = Tensor::FromHost(&device, shape, HostValue::Uniform(0, 1, 7));
//   { ScopePusher layer(&device, "encoder"); y = nn::Linear(x, w, b); }
//   RETURN_IF_ERROR(device.Sync());
#ifndef PTXLA_LAZY_DEVICE_H_
#define PTXLA_LAZY_DEVICE_H_

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/node_hash_set.h"
#include "absl/status/status.h"
#include "lazy/executor.h"
#include "lazy/lazy_tensor.h"
#include "lazy/node.h"

namespace ptxla::lazy {

class Autocast;

class Device {
 public:
  // `executor` may be null: nodes cost nothing and Sync() fails.
  explicit Device(Executor* executor = nullptr);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  // --- Nodes ---
  Value MakeNode(OpKind kind, Node::Operands operands, TensorShape shape,
                 NodeAttrs attrs = {});
  Value MakeNode(OpKind kind, Node::Operands operands,
                 std::vector<TensorShape> shapes, NodeAttrs attrs = {});
  // Tells the executor that an in-place operation has got its result.
  void NoteInPlace(const Value& result);
  // A leaf. Every call makes a new one, as PyTorch/XLA does.
  Value DataNode(const DeviceDataPtr& data);
  // A number inside the graph.
  Value Constant(double value, PrimitiveType type);
  // A Python scalar: 0 and 1 are constants, any other number is a parameter
  // (one buffer per value and type, sent when first used), so that a new
  // learning rate needs no new program.
  Value Scalar(double value, PrimitiveType type);

  // --- Buffers and tensors ---
  DeviceDataPtr MakeData(TensorShape shape, HostValue value = {});
  LazyTensorPtr MakeTensor(Value value);
  LazyTensorPtr MakeTensor(DeviceDataPtr data);
  // Oldest live tensor; LazyTensor::next() leads on.
  LazyTensor* first_tensor() const { return first_; }
  int64_t tensors_made() const { return next_tensor_id_ - 1; }

  // --- Random numbers ---
  // The seed of the next random operation: the step's seed parameter, stepped
  // by a linear congruential generator inside the graph.
  Value NextSeed();
  void ManualSeed(uint64_t seed);

  // --- Collectives: the token that chains those of one step ---
  Value AllReduceToken();
  void SetAllReduceToken(Value token) { token_ = std::move(token); }

  // --- Scope and gradients ---
  const Origin& origin() const { return origin_; }
  void set_origin(const Origin& origin) { origin_ = origin; }
  // A string with the device's life time.
  const std::string* Intern(std::string text);
  // False inside NoGrad: operations record no backward step.
  bool grad_enabled() const { return grad_enabled_; }
  void set_grad_enabled(bool enabled) { grad_enabled_ = enabled; }
  int64_t NextSequence() { return next_sequence_++; }
  // The innermost Autocast block; nullptr: none.
  Autocast* autocast() const { return autocast_; }
  void set_autocast(Autocast* autocast) { autocast_ = autocast; }

  // --- Step barrier ---
  // torch_xla.sync(): executor->Sync(), then MarkStep().
  absl::Status Sync();
  // Renews seed and token, so that the next step's graph hashes the same.
  void MarkStep();
  absl::StatusOr<hlo::Literal> Read(LazyTensor* tensor);

 private:
  friend class LazyTensor;
  void Link(LazyTensor* tensor);
  void Unlink(LazyTensor* tensor);
  DeviceDataPtr ScalarData(double value, PrimitiveType type);

  Executor* executor_;
  int64_t next_tensor_id_ = 1, next_data_handle_ = 1, next_sequence_ = 1;
  LazyTensor* first_ = nullptr;
  LazyTensor* last_ = nullptr;
  struct CachedScalar {
    DeviceDataPtr data;
    int64_t last_use = 0;
  };
  // By bits and type; the least recently used one goes first.
  absl::flat_hash_map<std::pair<uint64_t, PrimitiveType>, CachedScalar>
      scalars_;
  int64_t scalar_clock_ = 0;
  uint64_t seed_ = 0;
  Value seed_value_, token_;
  Origin origin_;
  absl::node_hash_set<std::string> strings_;
  bool grad_enabled_ = true;
  Autocast* autocast_ = nullptr;
};

// Nodes made while it lives belong to layer `name` inside the current scope;
// the place is where it is written.
class ScopePusher {
 public:
  ScopePusher(Device* device, const std::string& name,
              const char* file = __builtin_FILE(), int line = __builtin_LINE());
  ~ScopePusher() { device_->set_origin(saved_); }
  ScopePusher(const ScopePusher&) = delete;
  ScopePusher& operator=(const ScopePusher&) = delete;

 private:
  Device* device_;
  Origin saved_;
};

// torch.no_grad().
class NoGrad {
 public:
  explicit NoGrad(Device* device)
      : device_(device), saved_(device->grad_enabled()) {
    device->set_grad_enabled(false);
  }
  ~NoGrad() { device_->set_grad_enabled(saved_); }
  NoGrad(const NoGrad&) = delete;
  NoGrad& operator=(const NoGrad&) = delete;

 private:
  Device* device_;
  bool saved_;
};

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_DEVICE_H_
