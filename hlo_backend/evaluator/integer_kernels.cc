#include <limits>
#include <type_traits>

#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

namespace ptxla::hlo {
namespace {

using internal::BinaryLoop;
using internal::TernaryLoop;
using internal::UnaryLoop;

// Unsigned arithmetic wraps; signed overflow would be undefined. 16-bit and
// narrower types would be promoted to int, whose product can overflow.
template <class T>
using Wrap =
    std::conditional_t<(sizeof(T) < 4), uint32_t, std::make_unsigned_t<T>>;

template <class T>
constexpr int kBits = static_cast<int>(sizeof(T)) * 8;

struct AddFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(Wrap<T>(x) + Wrap<T>(y));
  }
};
struct SubtractFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(Wrap<T>(x) - Wrap<T>(y));
  }
};
struct MultiplyFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(Wrap<T>(x) * Wrap<T>(y));
  }
};
// XLA: x / 0 is all ones, the lowest number / -1 is itself.
struct DivideFn {
  template <class T>
  T operator()(T x, T y) const {
    if (y == 0) return static_cast<T>(-1);
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return SubtractFn{}(T{0}, x);
    }
    return static_cast<T>(x / y);
  }
};
// XLA: x % 0 is x.
struct RemainderFn {
  template <class T>
  T operator()(T x, T y) const {
    if (y == 0) return x;
    if constexpr (std::is_signed_v<T>) {
      if (y == -1) return 0;
    }
    return static_cast<T>(x % y);
  }
};
struct PowerFn {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (std::is_signed_v<T>) {
      if (y < 0) {
        if (x == 1) return 1;
        if (x == -1) return (y & 1) ? T(-1) : T(1);
        return x == 0 ? T(-1) : T(0);  // 1 / 0 is all ones
      }
    }
    T result = 1;
    auto e = static_cast<std::make_unsigned_t<T>>(y);
    for (; e != 0; e >>= 1) {
      if (e & 1) result = MultiplyFn{}(result, x);
      x = MultiplyFn{}(x, x);
    }
    return result;
  }
};
struct MulhiFn {
  template <class T>
  T operator()(T x, T y) const {
    if constexpr (sizeof(T) == 8) {
      using Wide =
          std::conditional_t<std::is_signed_v<T>, __int128, unsigned __int128>;
      return static_cast<T>((Wide{x} * Wide{y}) >> 64);
    } else {
      using Wide = std::conditional_t<std::is_signed_v<T>, int64_t, uint64_t>;
      return static_cast<T>((Wide{x} * Wide{y}) >> kBits<T>);
    }
  }
};
struct MaximumFn {
  template <class T>
  T operator()(T x, T y) const {
    return x < y ? y : x;
  }
};
struct MinimumFn {
  template <class T>
  T operator()(T x, T y) const {
    return y < x ? y : x;
  }
};
struct AndFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x & y);
  }
};
struct OrFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x | y);
  }
};
struct XorFn {
  template <class T>
  T operator()(T x, T y) const {
    return static_cast<T>(x ^ y);
  }
};
// Shifts by the width or more give 0, or the sign.
struct ShiftLeftFn {
  template <class T>
  T operator()(T x, T y) const {
    const auto by = static_cast<std::make_unsigned_t<T>>(y);
    return by >= kBits<T> ? T(0) : static_cast<T>(Wrap<T>(x) << by);
  }
};
struct ShiftRightLogicalFn {
  template <class T>
  T operator()(T x, T y) const {
    const auto by = static_cast<std::make_unsigned_t<T>>(y);
    if (by >= kBits<T>) return 0;
    return static_cast<T>(static_cast<std::make_unsigned_t<T>>(x) >> by);
  }
};
struct ShiftRightArithmeticFn {
  template <class T>
  T operator()(T x, T y) const {
    using S = std::make_signed_t<T>;
    const auto by = static_cast<std::make_unsigned_t<T>>(y);
    const S value = static_cast<S>(x);
    return static_cast<T>(value >> (by >= kBits<T> ? kBits<T> - 1 : by));
  }
};
struct AbsFn {
  template <class T>
  T operator()(T x) const {
    if constexpr (std::is_signed_v<T>) {
      return x < 0 ? SubtractFn{}(T{0}, x) : x;
    }
    return x;
  }
};
struct NegateFn {
  template <class T>
  T operator()(T x) const {
    return SubtractFn{}(T{0}, x);
  }
};
struct SignFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>((x > 0) - (x < 0));
  }
};
struct NotFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(~x);
  }
};
struct LogicalNotFn {
  uint8_t operator()(uint8_t x) const { return x == 0; }
};
struct PopcountFn {
  template <class T>
  T operator()(T x) const {
    return static_cast<T>(__builtin_popcountll(
        static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(x))));
  }
};
struct LeadingZerosFn {
  template <class T>
  T operator()(T x) const {
    const auto u =
        static_cast<uint64_t>(static_cast<std::make_unsigned_t<T>>(x));
    return static_cast<T>(u == 0 ? kBits<T>
                                 : __builtin_clzll(u) - (64 - kBits<T>));
  }
};
struct ClampFn {
  template <class T>
  T operator()(T low, T x, T high) const {
    return MinimumFn{}(MaximumFn{}(x, low), high);
  }
};

template <class T>
Kernel KernelOf(Opcode opcode, const KernelConfig& config) {
  switch (opcode) {
    case Opcode::kAdd:
      return BinaryLoop<T, T, AddFn>;
    case Opcode::kSubtract:
      return BinaryLoop<T, T, SubtractFn>;
    case Opcode::kMultiply:
      return BinaryLoop<T, T, MultiplyFn>;
    case Opcode::kDivide:
      return BinaryLoop<T, T, DivideFn>;
    case Opcode::kRemainder:
      return BinaryLoop<T, T, RemainderFn>;
    case Opcode::kPower:
      return BinaryLoop<T, T, PowerFn>;
    case Opcode::kMulhi:
      return BinaryLoop<T, T, MulhiFn>;
    case Opcode::kMaximum:
      return BinaryLoop<T, T, MaximumFn>;
    case Opcode::kMinimum:
      return BinaryLoop<T, T, MinimumFn>;
    case Opcode::kAnd:
      return BinaryLoop<T, T, AndFn>;
    case Opcode::kOr:
      return BinaryLoop<T, T, OrFn>;
    case Opcode::kXor:
      return BinaryLoop<T, T, XorFn>;
    case Opcode::kShiftLeft:
      return BinaryLoop<T, T, ShiftLeftFn>;
    case Opcode::kShiftRightLogical:
      return BinaryLoop<T, T, ShiftRightLogicalFn>;
    case Opcode::kShiftRightArithmetic:
      return BinaryLoop<T, T, ShiftRightArithmeticFn>;
    case Opcode::kAbs:
      return UnaryLoop<T, T, AbsFn>;
    case Opcode::kNegate:
      return UnaryLoop<T, T, NegateFn>;
    case Opcode::kSign:
      return UnaryLoop<T, T, SignFn>;
    case Opcode::kNot:
      return UnaryLoop<T, T, NotFn>;
    case Opcode::kPopulationCount:
      return UnaryLoop<T, T, PopcountFn>;
    case Opcode::kClz:
      return UnaryLoop<T, T, LeadingZerosFn>;
    case Opcode::kClamp:
      return TernaryLoop<T, ClampFn>;
    case Opcode::kCompare:
      return internal::CompareKernel<T>(config.direction);
    default:
      return nullptr;
  }
}

// Booleans: sums are "or", products "and".
Kernel PredKernel(Opcode opcode, const KernelConfig& config) {
  using T = uint8_t;
  switch (opcode) {
    case Opcode::kAdd:
    case Opcode::kMaximum:
    case Opcode::kOr:
      return BinaryLoop<T, T, OrFn>;
    case Opcode::kMultiply:
    case Opcode::kMinimum:
    case Opcode::kAnd:
      return BinaryLoop<T, T, AndFn>;
    case Opcode::kXor:
    case Opcode::kSubtract:
      return BinaryLoop<T, T, XorFn>;
    case Opcode::kNot:
      return UnaryLoop<T, T, LogicalNotFn>;
    case Opcode::kClamp:
      return TernaryLoop<T, ClampFn>;
    case Opcode::kCompare:
      return internal::CompareKernel<T>(config.direction);
    default:
      return nullptr;
  }
}

struct Bytes16 {
  uint64_t low, high;
};

template <class T>
void SelectLoop(const KernelArgs& args) {
  const uint8_t* pred = static_cast<const uint8_t*>(args.in[0]);
  const T* a = static_cast<const T*>(args.in[1]);
  const T* b = static_cast<const T*>(args.in[2]);
  const int64_t sp = args.splat[0] ? 0 : 1;
  const int64_t sa = args.splat[1] ? 0 : 1;
  const int64_t sb = args.splat[2] ? 0 : 1;
  T* out = static_cast<T*>(args.out);
  for (int64_t i = 0; i < args.n; ++i) {
    out[i] = pred[i * sp] ? a[i * sa] : b[i * sb];
  }
}

}  // namespace

Kernel IntegerKernel(Opcode opcode, PrimitiveType type, const KernelConfig& c) {
  switch (type) {
    case PrimitiveType::kPred:
      return PredKernel(opcode, c);
    case PrimitiveType::kS8:
      return KernelOf<int8_t>(opcode, c);
    case PrimitiveType::kS16:
      return KernelOf<int16_t>(opcode, c);
    case PrimitiveType::kS32:
      return KernelOf<int32_t>(opcode, c);
    case PrimitiveType::kS64:
      return KernelOf<int64_t>(opcode, c);
    case PrimitiveType::kU8:
      return KernelOf<uint8_t>(opcode, c);
    case PrimitiveType::kU16:
      return KernelOf<uint16_t>(opcode, c);
    case PrimitiveType::kU32:
      return KernelOf<uint32_t>(opcode, c);
    case PrimitiveType::kU64:
      return KernelOf<uint64_t>(opcode, c);
    default:
      return nullptr;
  }
}

Kernel SelectKernel(int element_bytes) {
  switch (element_bytes) {
    case 1:
      return SelectLoop<uint8_t>;
    case 2:
      return SelectLoop<uint16_t>;
    case 4:
      return SelectLoop<uint32_t>;
    case 8:
      return SelectLoop<uint64_t>;
    case 16:
      return SelectLoop<Bytes16>;
    default:
      return nullptr;
  }
}

}  // namespace ptxla::hlo
