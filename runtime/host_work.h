// What keeps the tracing thread of a PyTorch/XLA process, in units that can be
// counted while a step is traced. What one unit costs: runtime/host_costs.h;
// what is known about it: docs/host_model.md.
//
// An operation of the model is one call: a node of the lazy graph that is no
// leaf. It costs more when autograd records it, and something else when
// autograd's engine makes it on its own thread while python waits. On top come
// what only some calls need.
#ifndef PTXLA_RUNTIME_HOST_WORK_H_
#define PTXLA_RUNTIME_HOST_WORK_H_

#include <array>
#include <cstdint>

namespace ptxla::runtime {

// X(enumerator, key in data/host.textproto, name of its interval on a timeline,
//   costs processor time: scaled by host.slowness)
#define PTXLA_HOST_WORKS(X)                                             \
  X(kCall, "host.call", "LazyTracing", true)                            \
  X(kRecordedCall, "host.recorded_call", "LazyTracing", true)           \
  X(kEngineCall, "host.engine_call", "LazyTracing, backward", true)     \
  X(kScalar, "host.scalar", "LazyTracing, scalars", true)               \
  X(kInPlace, "host.in_place", "LazyTracing, in place", true)           \
  X(kPythonMeta, "host.python_meta", "LazyTracing, meta kernels", true) \
  X(kInferShape, "host.infer_shape", "LazyTracing, shapes", true)       \
  X(kCollectTensor, "host.collect_tensor", "CollectSyncTensors", false) \
  X(kWalkNode, "host.post_order_node", "RunPostOrder", false)           \
  X(kLowerNode, "host.lower_node", "LoweringContext", true)

enum class HostWork : uint8_t {
#define PTXLA_X(e, key, span, scaled) e,
  PTXLA_HOST_WORKS(PTXLA_X)
#undef PTXLA_X
};

#define PTXLA_X(e, key, span, scaled) +1
inline constexpr int kHostWorkCount = 0 PTXLA_HOST_WORKS(PTXLA_X);
#undef PTXLA_X

// Of all calls, those before CollectSyncTensors: what LazyTracing is about.
inline constexpr int kTracingWorkCount =
    static_cast<int>(HostWork::kCollectTensor);

template <class T>
using PerHostWork = std::array<T, kHostWorkCount>;

// For a timeline: "LazyTracing, backward".
const char* HostWorkSpan(HostWork work);

}  // namespace ptxla::runtime

#endif  // PTXLA_RUNTIME_HOST_WORK_H_
