#include "lazy/device.h"

#include <algorithm>

#include "absl/base/casts.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "base/check.h"

namespace ptxla::lazy {
namespace {

// The linear congruential generator of PyTorch/XLA (tensor_methods.cpp,
// kSeedAdd and kSeedMul), and the one that renews the seed at a step barrier
// (xla_graph_executor.cpp).
constexpr int64_t kSeedAdd = 2531011, kSeedMul = 214013;
constexpr uint64_t kStepSeedAdd = 1012031, kStepSeedMul = 7012063;

// Distinct scalar values that are kept; PyTorch/XLA bounds its cache as well
// (XLA_DEVDATA_CACHE_SIZE, 128).
constexpr size_t kScalarCacheSize = 128;

// The path inside the source tree: what is in front of it is the machine's, and
// the same for this file.
const char* PathInTree(const char* file) {
  constexpr absl::string_view kHere = __FILE__, kInTree = "lazy/device.cc";
  const absl::string_view root = kHere.substr(0, kHere.size() - kInTree.size());
  return absl::StartsWith(file, root) ? file + root.size() : file;
}

}  // namespace

Device::Device(Executor* executor) : executor_(executor) {}

Device::~Device() {
  token_ = seed_value_ = Value();
  CHECK(first_ == nullptr) << "a tensor outlives its device";
}

Value Device::MakeNode(OpKind kind, Node::Operands operands, TensorShape shape,
                       NodeAttrs attrs) {
  NodePtr node(new Node(kind, std::move(operands), std::move(shape),
                        std::move(attrs), origin_));
  if (executor_) executor_->OnNode(*this, *node);
  return {std::move(node), 0};
}

Value Device::MakeNode(OpKind kind, Node::Operands operands,
                       std::vector<TensorShape> shapes, NodeAttrs attrs) {
  NodePtr node(new Node(kind, std::move(operands), std::move(shapes),
                        std::move(attrs), origin_));
  if (executor_) executor_->OnNode(*this, *node);
  return {std::move(node), 0};
}

void Device::NoteInPlace(const Value& result) {
  if (executor_) executor_->OnInPlace(*this, *result.node);
}

Value Device::DataNode(const DeviceDataPtr& data) {
  return MakeNode(OpKind::kDeviceData, {}, data->shape(), DataAttrs{data});
}

Value Device::Constant(double value, PrimitiveType type) {
  return MakeNode(OpKind::kConstant, {}, TensorShape(type, {}),
                  ConstantAttrs{value});
}

Value Device::Scalar(double value, PrimitiveType type) {
  if (value == 0 || value == 1) return Constant(value, type);
  return DataNode(ScalarData(value, type));
}

DeviceDataPtr Device::ScalarData(double value, PrimitiveType type) {
  const auto key = std::make_pair(absl::bit_cast<uint64_t>(value), type);
  const int64_t now = ++scalar_clock_;
  if (auto it = scalars_.find(key); it != scalars_.end()) {
    it->second.last_use = now;
    return it->second.data;
  }
  if (scalars_.size() >= kScalarCacheSize) {
    scalars_.erase(std::min_element(
        scalars_.begin(), scalars_.end(), [](const auto& a, const auto& b) {
          return a.second.last_use < b.second.last_use;
        }));
  }
  DeviceDataPtr data =
      MakeData(TensorShape(type, {}), HostValue::Constant(value));
  data->read_only = true;
  scalars_[key] = {data, now};
  return data;
}

DeviceDataPtr Device::MakeData(TensorShape shape, HostValue value) {
  auto data =
      std::make_shared<DeviceData>(next_data_handle_++, std::move(shape));
  data->host_value = std::move(value);
  if (executor_ && data->host_value.kind != HostValue::Kind::kNone) {
    executor_->OnTransferToDevice(*data);
  }
  return data;
}

LazyTensorPtr Device::MakeTensor(Value value) {
  LazyTensorPtr tensor(new LazyTensor(this, next_tensor_id_++, value.shape()));
  tensor->ir_ = std::move(value);
  return tensor;
}

LazyTensorPtr Device::MakeTensor(DeviceDataPtr data) {
  LazyTensorPtr tensor(new LazyTensor(this, next_tensor_id_++, data->shape()));
  tensor->data_ = std::move(data);
  return tensor;
}

void Device::Link(LazyTensor* tensor) {
  tensor->previous_ = last_;
  (last_ ? last_->next_ : first_) = tensor;
  last_ = tensor;
}

void Device::Unlink(LazyTensor* tensor) {
  (tensor->previous_ ? tensor->previous_->next_ : first_) = tensor->next_;
  (tensor->next_ ? tensor->next_->previous_ : last_) = tensor->previous_;
}

Value Device::NextSeed() {
  const PrimitiveType s64 = PrimitiveType::kS64;
  if (!seed_value_) {
    DeviceDataPtr data = MakeData(TensorShape(s64, {}),
                                  HostValue::FromLiteral(hlo::Literal::Scalar(
                                      absl::bit_cast<int64_t>(seed_))));
    data->read_only = true;
    seed_value_ = DataNode(data);
  }
  Value product = MakeNode(OpKind::kMul, {Constant(kSeedMul, s64), seed_value_},
                           TensorShape(s64, {}));
  seed_value_ = MakeNode(OpKind::kAdd, {Constant(kSeedAdd, s64), product},
                         TensorShape(s64, {}));
  return seed_value_;
}

void Device::ManualSeed(uint64_t seed) {
  seed_ = seed;
  seed_value_ = Value();
}

Value Device::AllReduceToken() {
  if (!token_) {
    token_ = DataNode(ScalarData(0, PrimitiveType::kF32));
  }
  return token_;
}

const std::string* Device::Intern(std::string text) {
  return &*strings_.insert(std::move(text)).first;
}

absl::Status Device::Sync() {
  if (executor_ == nullptr) {
    return absl::FailedPreconditionError("the device has no executor");
  }
  absl::Status status = executor_->Sync(this);
  MarkStep();
  return status;
}

void Device::MarkStep() {
  // Every step starts from a parameter again: a chain that went on from step to
  // step would be another program each time.
  seed_ = kStepSeedAdd + seed_ * kStepSeedMul;
  seed_value_ = Value();
  token_ = Value();
}

absl::StatusOr<hlo::Literal> Device::Read(LazyTensor* tensor) {
  if (executor_ == nullptr) {
    return absl::FailedPreconditionError("the device has no executor");
  }
  return executor_->Read(this, tensor);
}

ScopePusher::ScopePusher(Device* device, const std::string& name,
                         const char* file, int line)
    : device_(device), saved_(device->origin()) {
  Origin origin = saved_;
  origin.scope = device->Intern(
      saved_.scope ? absl::StrCat(*saved_.scope, ".", name) : name);
  origin.file = PathInTree(file);
  origin.line = line;
  device->set_origin(origin);
}

}  // namespace ptxla::lazy
