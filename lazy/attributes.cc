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
    return HashCombine(2, Bits(a.epsilon));
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

}  // namespace

uint64_t HashOf(const NodeAttrs& attrs) { return std::visit(Hasher(), attrs); }

}  // namespace ptxla::lazy
