#include "runtime/trace_counter.h"

namespace ptxla::runtime {
namespace {

using lazy::OpKind;

// Functionalisation runs an in-place operation on meta tensors first, to find
// errors early. Most meta kernels are C++; those of these operations are
// Python (torch/_meta_registrations.py), which costs several times the
// operation itself.
bool HasPythonMetaKernel(OpKind kind) {
  return kind == OpKind::kLerp || kind == OpKind::kAddcmul ||
         kind == OpKind::kAddcdiv;
}

}  // namespace

void TraceCounter::OnNode(const lazy::Device& device, const lazy::Node& node) {
  switch (node.kind()) {
    case OpKind::kConstant:
      return;  // made with the call that uses it
    case OpKind::kDeviceData: {
      // A Python number that is neither 0 nor 1: looked up by value, wrapped.
      const lazy::DeviceData& data = *node.attrs<lazy::DataAttrs>().data;
      if (data.read_only && node.shape().IsScalar()) Count(HostWork::kScalar);
      return;
    }
    default:
      break;
  }
  if (node.origin().backward) {
    Count(HostWork::kEngineCall);
  } else {
    Count(device.grad_enabled() ? HostWork::kRecordedCall : HostWork::kCall);
  }
  if (!shapes_.Touch(node.dag_hash())) Count(HostWork::kInferShape);
}

void TraceCounter::OnInPlace(const lazy::Node& node) {
  Count(HostWork::kInPlace);
  if (HasPythonMetaKernel(node.kind())) Count(HostWork::kPythonMeta);
}

PerHostWork<int64_t> TraceCounter::Take() {
  const PerHostWork<int64_t> counts = counts_;
  counts_ = {};
  return counts;
}

}  // namespace ptxla::runtime
