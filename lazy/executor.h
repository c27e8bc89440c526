// Who runs what is traced. lazy traces; an Executor decides what a traced node
// costs the host, what a step barrier does with the pending graph, and what
// reading a value gives. runtime implements it with host clocks, a compile
// cache and the simulated device; a second implementation evaluates on the CPU,
// so that small models really train.
//
//   class Evaluating : public Executor { ... };
//   Evaluating executor;
//   Device device(&executor);
//   Tensor loss = TrainStep(&device);        // OnNode for every node
//   RETURN_IF_ERROR(device.Sync());          // Executor::Sync
//   ASSIGN_OR_RETURN(Literal value, device.Read(loss));
//
// Sync is expected to follow pytorch_xla's executor: CollectSync(), hash,
// look up, LowerToHlo() on a miss, enqueue, FinishSync() with one new
// DeviceData per output (lazy/sync.h).
#ifndef PTXLA_LAZY_EXECUTOR_H_
#define PTXLA_LAZY_EXECUTOR_H_

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/ir/literal.h"
#include "lazy/device_data.h"
#include "lazy/node.h"

namespace ptxla::lazy {

class Device;
class LazyTensor;

class Executor {
 public:
  virtual ~Executor() = default;

  // The tracing thread has made a node. `device` says whether gradients are
  // recorded, the node's origin whether autograd's engine made it.
  virtual void OnNode(const Device& device, const Node& node) = 0;
  // An in-place operation is done: its result is `node`, and the tensor (or the
  // base of the view) that it wrote has got a new value.
  virtual void OnInPlace(const Device& device, const Node& node);
  // The tracing thread hands a host value over to the device (a batch, a scalar
  // that the scalar cache does not hold, a parameter at the start).
  virtual void OnTransferToDevice(const DeviceData& data) = 0;
  // A step barrier: everything pending on `device` must be on its way. The
  // device's step state (seed chain, token, scalars) is renewed by the caller.
  virtual absl::Status Sync(Device* device) = 0;
  // The value of a tensor, pending or not: what .item() and .cpu() do. An
  // executor without numbers answers Unimplemented.
  virtual absl::StatusOr<hlo::Literal> Read(Device* device,
                                            LazyTensor* tensor) = 0;
};

inline void Executor::OnInPlace(const Device&, const Node&) {}

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_EXECUTOR_H_
