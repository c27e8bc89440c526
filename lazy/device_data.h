// A buffer on the device, or the promise of one: what PyTorch/XLA calls
// BackendData. Leaves of the lazy graph point at it; the HLO parameters of a
// step are the distinct DeviceData of its graph in order of appearance.
//
// The numbers inside are nobody's business while tracing, so a buffer says how
// its first value is made (HostValue) and makes it only when an executor asks;
// 336 million parameters of a simulated TPU are never materialised. What the
// executor knows about a buffer (real values, arrival time) hangs in `payload`.
#ifndef PTXLA_LAZY_DEVICE_DATA_H_
#define PTXLA_LAZY_DEVICE_DATA_H_

#include <cstdint>
#include <memory>
#include <string>

#include "hlo_backend/ir/literal.h"
#include "lazy/tensor_shape.h"

namespace ptxla::lazy {

// How the first value of a buffer comes about on the host.
struct HostValue {
  enum class Kind {
    kNone,      // no value comes from the host: the device computes it
    kConstant,  // every element is `a`
    kUniform,   // floats in [a, b), integers in [a, b), by `seed`
    kRange,     // 0, 1, 2 ... along the last dimension
    kLiteral,   // `literal`
  };
  Kind kind = Kind::kNone;
  double a = 0, b = 0;
  uint64_t seed = 0;
  std::shared_ptr<const hlo::Literal> literal;

  static HostValue Constant(double value) {
    return {Kind::kConstant, value, 0, 0, nullptr};
  }
  static HostValue Uniform(double low, double high, uint64_t seed) {
    return {Kind::kUniform, low, high, seed, nullptr};
  }
  static HostValue Range() { return {Kind::kRange, 0, 0, 0, nullptr}; }
  static HostValue FromLiteral(hlo::Literal value) {
    return {Kind::kLiteral, 0, 0, 0,
            std::make_shared<const hlo::Literal>(std::move(value))};
  }
};

// The numbers. CHECK fails on kNone. The same on every machine.
hlo::Literal Materialize(const HostValue& value, const TensorShape& shape);

class DeviceData {
 public:
  // What an executor attaches.
  class Payload {
   public:
    virtual ~Payload() = default;
  };

  DeviceData(int64_t handle, TensorShape shape)
      : handle_(handle), shape_(std::move(shape)) {}
  DeviceData(const DeviceData&) = delete;
  DeviceData& operator=(const DeviceData&) = delete;

  int64_t handle() const { return handle_; }  // unique on the device
  const TensorShape& shape() const { return shape_; }

  HostValue host_value;
  // Unique id of the tensor that owns the buffer; -1 for scalars.
  int64_t tensor_id = -1;
  bool read_only = false;  // a scalar: never donated
  // The user said that the buffer may be overwritten (donation on request).
  bool should_donate = false;
  // Who it is for memory reports: "bert.encoder.layer.3.output.dense.weight".
  std::string label;
  std::unique_ptr<Payload> payload;

 private:
  int64_t handle_;
  TensorShape shape_;
};

using DeviceDataPtr = std::shared_ptr<DeviceData>;

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_DEVICE_DATA_H_
