#include "lazy/attributes.h"

#include "absl/base/casts.h"
#include "base/hash.h"

namespace ptxla::lazy {
namespace {

// The seed that PyTorch's lazy core gives to nodes without attributes.
constexpr uint64_t kDefaultSeed = 0x5a2d296e9;
// The seed of every DeviceData, whatever it holds.
constexpr uint64_t kDataSeed = 101;

int64_t Bits(double value) { return absl::bit_cast<int64_t>(value); }

struct Hasher {
  uint64_t operator()(std::monostate) const { return kDefaultSeed; }
  uint64_t operator()(const DataAttrs&) const { return kDataSeed; }
  uint64_t operator()(const ConstantAttrs& a) const {
    return HashCombine(1, Bits(a.value));
  }
  uint64_t operator()(const DimsAttrs& a) const {
    return Fingerprint().Add(a.dims).Add(int64_t{a.keepdim}).value();
  }
  uint64_t operator()(const SliceAttrs& a) const {
    return Fingerprint().Add(a.starts).Add(a.limits).value();
  }
  uint64_t operator()(const BatchNormAttrs& a) const {
    return Fingerprint()
        .Add(int64_t{2})
        .Add(Bits(a.epsilon))
        .Add(a.feature)
        .Add(int64_t{a.training})
        .value();
  }
  uint64_t operator()(const WindowAttrs& a) const {
    return Fingerprint().Add(a.sizes).Add(a.strides).Add(a.padding).value();
  }
  uint64_t operator()(const NllLossAttrs& a) const {
    return HashCombine(3, a.ignore_index);
  }
  uint64_t operator()(const CollectiveAttrs& a) const {
    Fingerprint f;
    for (const auto& group : a.groups) f.Add(group);
    return f.Add(Bits(a.scale)).Add(int64_t{a.pin_layout}).value();
  }
};

// Operands (at least, at most; -1: any) and attributes of a kind.
struct Signature {
  int least, most;
  size_t attrs;  // index into NodeAttrs
};

Signature SignatureOf(OpKind kind) {
  const size_t none = 0, data = NodeAttrs(DataAttrs()).index(),
               constant = NodeAttrs(ConstantAttrs()).index(),
               dims = NodeAttrs(DimsAttrs()).index(),
               slice = NodeAttrs(SliceAttrs()).index(),
               norm = NodeAttrs(BatchNormAttrs()).index(),
               window = NodeAttrs(WindowAttrs()).index(),
               nll = NodeAttrs(NllLossAttrs()).index(),
               collective = NodeAttrs(CollectiveAttrs()).index();
  switch (kind) {
    case OpKind::kDeviceData:
      return {0, 0, data};
    case OpKind::kConstant:
      return {0, 0, constant};
    case OpKind::kView:
    case OpKind::kPermute:
    case OpKind::kExpand:
    case OpKind::kStack:
    case OpKind::kSum:
    case OpKind::kMean:
    case OpKind::kSoftmax:
    case OpKind::kLogSoftmax:
      return {1, 1, dims};
    case OpKind::kSoftmaxBackward:
    case OpKind::kLogSoftmaxBackward:
    case OpKind::kIndexSelect:
      return {2, 2, dims};
    case OpKind::kSelect:
    case OpKind::kGenericSlice:
      return {1, 1, slice};
    case OpKind::kUpdateSlice:
    case OpKind::kUnselect:
      return {2, 2, slice};
    case OpKind::kCast:
    case OpKind::kSqrt:
    case OpKind::kTanh:
    case OpKind::kRelu:
    case OpKind::kGelu:
      return {1, 1, none};
    case OpKind::kAdd:
      return {2, 3, none};
    case OpKind::kRsub:
    case OpKind::kWhere:
    case OpKind::kAddmm:
    case OpKind::kIndexPut:
    case OpKind::kLerp:
      return {3, 3, none};
    case OpKind::kMul:
    case OpKind::kDiv:
    case OpKind::kPow:
    case OpKind::kNe:
    case OpKind::kLt:
    case OpKind::kThresholdBackward:
    case OpKind::kGeluBackward:
    case OpKind::kMm:
    case OpKind::kMatmul:
    case OpKind::kBernoulli:
      return {2, 2, none};
    case OpKind::kAddcmul:
    case OpKind::kAddcdiv:
      return {4, 4, none};
    case OpKind::kConvolution:
    case OpKind::kMaxPoolBackward:
      return {2, 2, window};
    case OpKind::kConvolutionBackward:
      return {3, 3, window};
    case OpKind::kMaxPool:
      return {1, 1, window};
    case OpKind::kMovingAverage:
      return {2, 2, constant};
    case OpKind::kNllLoss:
      return {2, 2, nll};
    case OpKind::kNllLossBackward:
      return {3, 3, nll};
    case OpKind::kNativeBatchNorm:
    case OpKind::kNativeBatchNormBackward:
      return {5, 5, norm};
    case OpKind::kCrossReplicaSum:
      return {2, -1, collective};
  }
  return {0, -1, none};
}

}  // namespace

uint64_t HashOf(const NodeAttrs& attrs) { return std::visit(Hasher(), attrs); }

bool FitsKind(OpKind kind, int operands, const NodeAttrs& attrs) {
  const Signature s = SignatureOf(kind);
  return attrs.index() == s.attrs && operands >= s.least &&
         (s.most < 0 || operands <= s.most);
}

}  // namespace ptxla::lazy
