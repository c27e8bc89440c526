#include "hlo_backend/ir/attributes.h"

#include <cstring>
#include <type_traits>

#include "base/hash.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {
namespace {

template <class T, class = void>
struct HasTie : std::false_type {};
template <class T>
struct HasTie<T, std::void_t<decltype(std::declval<const T&>().Tie())>>
    : std::true_type {};

template <class T>
const T& Unbox(const T& value) {
  return value;
}
template <class T>
const T& Unbox(const Boxed<T>& box) {
  return box.get();
}

// --- Equality, field by field ---

template <class T>
bool Same(const T& a, const T& b);
inline bool Same(const std::shared_ptr<const Literal>& a,
                 const std::shared_ptr<const Literal>& b) {
  return a == b || (a && b && *a == *b);
}
template <class T>
bool Same(const std::optional<T>& a, const std::optional<T>& b) {
  return a.has_value() == b.has_value() && (!a || Same(*a, *b));
}
template <class Tuple, size_t... I>
bool SameFields(const Tuple& a, const Tuple& b, std::index_sequence<I...>) {
  return (Same(std::get<I>(a), std::get<I>(b)) && ...);
}
template <class T>
bool Same(const T& a, const T& b) {
  if constexpr (HasTie<T>::value) {
    return SameFields(
        a.Tie(), b.Tie(),
        std::make_index_sequence<std::tuple_size_v<decltype(a.Tie())>>());
  } else {
    return a == b;
  }
}

// --- Stable hash, field by field ---

class Hasher {
 public:
  uint64_t value() const { return f_.value(); }

  template <class T>
  void Add(const T& v) {
    if constexpr (HasTie<T>::value) {
      std::apply([this](const auto&... field) { (this->Add(field), ...); },
                 v.Tie());
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      f_.Add(static_cast<int64_t>(v));
    } else {
      AddOther(v);
    }
  }

 private:
  void AddOther(float v) { AddOther(static_cast<double>(v)); }
  void AddOther(double v) {
    int64_t bits;
    std::memcpy(&bits, &v, sizeof(bits));
    f_.Add(bits);
  }
  void AddOther(const std::string& v) { f_.Add(v); }
  void AddOther(const Window& v) { f_.Add(v.ToString()); }
  void AddOther(const ReplicaGroups& v) { f_.Add(v.ToString()); }
  void AddOther(const Sharding& v) { f_.Add(v.ToString()); }
  void AddOther(const Shape& v) {
    f_.Add(static_cast<int64_t>(v.Fingerprint(/*with_layout=*/true)));
  }
  void AddOther(const PaddingDim& v) {
    f_.Add(v.low).Add(v.high).Add(v.interior);
  }
  void AddOther(const OutputOperandAlias& v) {
    f_.Add(v.output).Add(v.operand).Add(v.operand_index);
  }
  void AddOther(const std::shared_ptr<const Literal>& v) {
    f_.Add(v ? static_cast<int64_t>(v->Fingerprint()) : 0);
  }
  template <class A, class B>
  void AddOther(const std::pair<A, B>& v) {
    Add(v.first);
    Add(v.second);
  }
  template <class T>
  void AddOther(const std::optional<T>& v) {
    f_.Add(static_cast<int64_t>(v.has_value()));
    if (v) Add(*v);
  }
  template <class T>
  void AddOther(const std::vector<T>& v) {
    AddList(v);
  }
  template <class T, size_t N>
  void AddOther(const absl::InlinedVector<T, N>& v) {
    AddList(v);
  }
  template <class L>
  void AddList(const L& list) {
    f_.Add(static_cast<int64_t>(list.size()));
    for (size_t i = 0; i < list.size(); ++i) {
      const typename L::value_type& element = list[i];
      Add(element);
    }
  }

  ptxla::Fingerprint f_;
};

}  // namespace

Attributes::Attributes() = default;
Attributes::Attributes(const Attributes&) = default;
Attributes::Attributes(Attributes&&) noexcept = default;
Attributes& Attributes::operator=(const Attributes&) = default;
Attributes& Attributes::operator=(Attributes&&) noexcept = default;
Attributes::~Attributes() = default;

bool AttributesEqual(const Attributes& a, const Attributes& b) {
  if (a.index() != b.index()) return false;
  return std::visit(
      [&b](const auto& value) {
        using T = std::decay_t<decltype(value)>;
        if constexpr (std::is_same_v<T, std::monostate>) {
          return true;
        } else {
          return Same(Unbox(value), Unbox(*std::get_if<T>(&b)));
        }
      },
      a);
}

uint64_t AttributesFingerprint(const Attributes& a) {
  Hasher hasher;
  hasher.Add(a.index());
  std::visit(
      [&hasher](const auto& value) {
        if constexpr (!std::is_same_v<std::decay_t<decltype(value)>,
                                      std::monostate>) {
          hasher.Add(Unbox(value));
        }
      },
      a);
  return hasher.value();
}

Attributes DefaultAttributes(Opcode opcode) {
  switch (opcode) {
    case Opcode::kParameter:
      return ParameterAttrs{};
    case Opcode::kConstant:
      return ConstantAttrs{std::make_shared<const Literal>()};
    case Opcode::kIota:
      return IotaAttrs{};
    case Opcode::kGetTupleElement:
      return TupleIndexAttrs{};
    case Opcode::kBroadcast:
    case Opcode::kConcatenate:
    case Opcode::kGetDimensionSize:
    case Opcode::kMap:
    case Opcode::kReduce:
    case Opcode::kReverse:
    case Opcode::kSetDimensionSize:
    case Opcode::kTranspose:
      return DimensionsAttrs{};
    case Opcode::kReshape:
      return ReshapeAttrs{};
    case Opcode::kSlice:
      return Boxed<SliceAttrs>();
    case Opcode::kDynamicSlice:
      return DynamicSliceAttrs{};
    case Opcode::kPad:
      return Boxed<PadAttrs>();
    case Opcode::kCompare:
      return CompareAttrs{};
    case Opcode::kDot:
    case Opcode::kScaledDot:
      return Boxed<DotAttrs>();
    case Opcode::kRaggedDot:
      return Boxed<RaggedDotAttrs>();
    case Opcode::kConvolution:
      return Boxed<ConvAttrs>();
    case Opcode::kReduceWindow:
    case Opcode::kSelectAndScatter:
      return Boxed<WindowAttrs>();
    case Opcode::kGather:
      return Boxed<GatherAttrs>();
    case Opcode::kScatter:
      return Boxed<ScatterAttrs>();
    case Opcode::kSort:
      return SortAttrs{};
    case Opcode::kTopK:
      return TopKAttrs{};
    case Opcode::kScan:
      return Boxed<ScanAttrs>();
    case Opcode::kReducePrecision:
      return ReducePrecisionAttrs{};
    case Opcode::kBatchNormGrad:
    case Opcode::kBatchNormInference:
    case Opcode::kBatchNormTraining:
      return BatchNormAttrs{};
    case Opcode::kFft:
      return FftAttrs{};
    case Opcode::kTriangularSolve:
      return TriangularSolveAttrs{};
    case Opcode::kCholesky:
      return CholeskyAttrs{};
    case Opcode::kRng:
      return RngAttrs{};
    case Opcode::kRngBitGenerator:
      return RngBitGeneratorAttrs{};
    case Opcode::kRngGetAndUpdateState:
      return RngStateAttrs{};
    case Opcode::kAllGather:
    case Opcode::kAllGatherStart:
    case Opcode::kAllReduce:
    case Opcode::kAllReduceStart:
    case Opcode::kAllToAll:
    case Opcode::kCollectiveBroadcast:
    case Opcode::kRaggedAllToAll:
    case Opcode::kReduceScatter:
      return Boxed<CollectiveAttrs>();
    case Opcode::kCollectivePermute:
    case Opcode::kCollectivePermuteStart:
      return Boxed<PermuteAttrs>();
    case Opcode::kRecv:
    case Opcode::kRecvDone:
    case Opcode::kSend:
    case Opcode::kSendDone:
      return SendRecvAttrs{};
    case Opcode::kAsyncDone:
    case Opcode::kAsyncStart:
    case Opcode::kAsyncUpdate:
      return Boxed<AsyncAttrs>();
    case Opcode::kCopyStart:
      return CopyStartAttrs{};
    case Opcode::kFusion:
      return FusionAttrs{};
    case Opcode::kCall:
      return CallAttrs{};
    case Opcode::kInfeed:
      return InfeedAttrs{};
    case Opcode::kOutfeed:
      return Boxed<OutfeedAttrs>();
    case Opcode::kDomain:
      return Boxed<DomainAttrs>();
    case Opcode::kCustomCall:
      return Boxed<CustomCallAttrs>();
    default:
      if (IsElementwiseUnary(opcode) && IsTranscendental(opcode)) {
        return ResultAccuracyAttrs{};
      }
      return std::monostate{};
  }
}

absl::string_view CompareDirectionName(CompareDirection direction) {
  static constexpr const char* kNames[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
  return kNames[static_cast<int>(direction)];
}

CompareDirection Swapped(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::kGe:
      return CompareDirection::kLe;
    case CompareDirection::kGt:
      return CompareDirection::kLt;
    case CompareDirection::kLe:
      return CompareDirection::kGe;
    case CompareDirection::kLt:
      return CompareDirection::kGt;
    default:
      return direction;
  }
}

CompareDirection Inverted(CompareDirection direction) {
  switch (direction) {
    case CompareDirection::kEq:
      return CompareDirection::kNe;
    case CompareDirection::kNe:
      return CompareDirection::kEq;
    case CompareDirection::kGe:
      return CompareDirection::kLt;
    case CompareDirection::kGt:
      return CompareDirection::kLe;
    case CompareDirection::kLe:
      return CompareDirection::kGt;
    case CompareDirection::kLt:
      return CompareDirection::kGe;
  }
  return direction;
}

absl::string_view FusionKindName(FusionKind kind) {
  static constexpr const char* kNames[] = {"kLoop", "kInput", "kOutput",
                                           "kCustom"};
  return kNames[static_cast<int>(kind)];
}

}  // namespace ptxla::hlo
