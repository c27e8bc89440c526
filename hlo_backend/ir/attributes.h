// What an instruction needs besides operands, shape and called computations:
// one of the structs of attribute_structs.h, held in a variant.
//
//   const DotAttrs& dot = instruction.attrs<DotAttrs>();
//   int64_t k = lhs.dim(dot.lhs_contracting[0]);
//
// Which opcode carries which struct: DefaultAttributes().
#ifndef PTXLA_HLO_BACKEND_IR_ATTRIBUTES_H_
#define PTXLA_HLO_BACKEND_IR_ATTRIBUTES_H_

#include <cstdint>
#include <memory>
#include <type_traits>
#include <utility>
#include <variant>

#include "hlo_backend/ir/attribute_structs.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::hlo {

// A large struct on the heap, shared by copies until one is changed.
template <class T>
class Boxed {
 public:
  Boxed() : value_(std::make_shared<T>()) {}
  Boxed(T value)  // NOLINT(google-explicit-constructor)
      : value_(std::make_shared<T>(std::move(value))) {}
  const T& get() const { return *value_; }
  T* mutable_get() {
    if (value_.use_count() > 1) value_ = std::make_shared<T>(*value_);
    return value_.get();
  }

 private:
  std::shared_ptr<T> value_;
};

using AttributesVariant = std::variant<
    std::monostate, ParameterAttrs, ConstantAttrs, IotaAttrs, TupleIndexAttrs,
    DimensionsAttrs, ReshapeAttrs, Boxed<SliceAttrs>, DynamicSliceAttrs,
    Boxed<PadAttrs>, CompareAttrs, Boxed<DotAttrs>, Boxed<RaggedDotAttrs>,
    Boxed<ConvAttrs>, Boxed<WindowAttrs>, Boxed<GatherAttrs>,
    Boxed<ScatterAttrs>, SortAttrs, TopKAttrs, Boxed<ScanAttrs>,
    ReducePrecisionAttrs, BatchNormAttrs, FftAttrs, TriangularSolveAttrs,
    CholeskyAttrs, RngAttrs, RngBitGeneratorAttrs, RngStateAttrs,
    ResultAccuracyAttrs, Boxed<CollectiveAttrs>, Boxed<PermuteAttrs>,
    SendRecvAttrs, Boxed<AsyncAttrs>, CopyStartAttrs, FusionAttrs, CallAttrs,
    InfeedAttrs, Boxed<OutfeedAttrs>, Boxed<DomainAttrs>,
    Boxed<CustomCallAttrs>>;

// One of the structs above. What copies and destroys it is compiled once: for
// so many alternatives it took a second in every file that includes this.
class Attributes : public AttributesVariant {
 public:
  Attributes();
  Attributes(const Attributes&);
  Attributes(Attributes&&) noexcept;
  Attributes& operator=(const Attributes&);
  Attributes& operator=(Attributes&&) noexcept;
  ~Attributes();
  template <class T, class = std::enable_if_t<
                         !std::is_same_v<std::decay_t<T>, Attributes>>>
  Attributes(T&& value)  // NOLINT(google-explicit-constructor)
      : AttributesVariant(std::forward<T>(value)) {}
};

namespace internal {
template <class T, class V>
struct IsAlternative;
template <class T, class... Ts>
struct IsAlternative<T, std::variant<Ts...>>
    : std::disjunction<std::is_same<T, Ts>...> {};
}  // namespace internal

// The struct inside, or nullptr if the variant holds another one. Whether the
// struct is boxed does not show.
template <class T>
const T* GetAttrs(const Attributes& a) {
  if constexpr (internal::IsAlternative<T, AttributesVariant>::value) {
    return std::get_if<T>(&a);
  } else {
    const auto* box = std::get_if<Boxed<T>>(&a);
    return box ? &box->get() : nullptr;
  }
}
template <class T>
T* GetMutableAttrs(Attributes* a) {
  if constexpr (internal::IsAlternative<T, AttributesVariant>::value) {
    return std::get_if<T>(a);
  } else {
    auto* box = std::get_if<Boxed<T>>(a);
    return box ? box->mutable_get() : nullptr;
  }
}

// The default-made struct that the opcode carries.
Attributes DefaultAttributes(Opcode opcode);

bool AttributesEqual(const Attributes& a, const Attributes& b);
// Stable; equal attributes have equal fingerprints. Does not see called
// computations (they are no attribute).
uint64_t AttributesFingerprint(const Attributes& a);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_ATTRIBUTES_H_
