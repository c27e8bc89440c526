#include <complex>
#include <limits>
#include <type_traits>

#include "hlo_backend/evaluator/kernel_loops.h"
#include "hlo_backend/evaluator/kernels.h"

namespace ptxla::hlo {
namespace {

// Stored as a byte that is 0 or 1; told apart from uint8_t by type.
enum class Pred : uint8_t {};

template <class T>
struct IsComplexType : std::false_type {};
template <class T>
struct IsComplexType<std::complex<T>> : std::true_type {};

template <class From, class To>
struct ConvertFn {
  To operator()(From x) const {
    if constexpr (IsComplexType<From>::value) {
      if constexpr (IsComplexType<To>::value) {
        using R = typename To::value_type;
        return To(static_cast<R>(x.real()), static_cast<R>(x.imag()));
      } else if constexpr (std::is_same_v<To, Pred>) {
        return static_cast<Pred>(x != From(0));
      } else {
        return ConvertFn<typename From::value_type, To>{}(x.real());
      }
    } else if constexpr (std::is_same_v<From, Pred>) {
      return ConvertFn<uint8_t, To>{}(static_cast<uint8_t>(x));
    } else if constexpr (IsComplexType<To>::value) {
      return To(static_cast<typename To::value_type>(x), 0);
    } else if constexpr (std::is_same_v<To, Pred>) {
      return static_cast<Pred>(x != From(0));
    } else if constexpr (std::is_floating_point_v<From> &&
                         std::is_integral_v<To>) {
      using Limits = std::numeric_limits<To>;
      if (x != x) return 0;
      // The limits are exact in From or round away from zero.
      if (x <= static_cast<From>(Limits::min())) return Limits::min();
      if (x >= static_cast<From>(Limits::max())) return Limits::max();
      return static_cast<To>(x);
    } else {
      return static_cast<To>(x);
    }
  }
};

template <class From>
Kernel KernelFrom(PrimitiveType to) {
  switch (to) {
#define PTXLA_TO(name, type)   \
  case PrimitiveType::k##name: \
    return internal::UnaryLoop<From, type, ConvertFn<From, type>>;
    PTXLA_TO(Pred, Pred)
    PTXLA_TO(S8, int8_t)
    PTXLA_TO(S16, int16_t)
    PTXLA_TO(S32, int32_t)
    PTXLA_TO(S64, int64_t)
    PTXLA_TO(U8, uint8_t)
    PTXLA_TO(U16, uint16_t)
    PTXLA_TO(U32, uint32_t)
    PTXLA_TO(U64, uint64_t)
    PTXLA_TO(F32, float)
    PTXLA_TO(F64, double)
    PTXLA_TO(C64, std::complex<float>)
    PTXLA_TO(C128, std::complex<double>)
#undef PTXLA_TO
    default:
      return nullptr;
  }
}

}  // namespace

PrimitiveType UnsignedOfBytes(int bytes) {
  switch (bytes) {
    case 1:
      return PrimitiveType::kU8;
    case 2:
      return PrimitiveType::kU16;
    case 4:
      return PrimitiveType::kU32;
    case 8:
      return PrimitiveType::kU64;
    default:
      return PrimitiveType::kC128;
  }
}

Kernel ConvertKernel(PrimitiveType from, PrimitiveType to) {
  switch (from) {
#define PTXLA_FROM(name, type) \
  case PrimitiveType::k##name: \
    return KernelFrom<type>(to);
    PTXLA_FROM(Pred, Pred)
    PTXLA_FROM(S8, int8_t)
    PTXLA_FROM(S16, int16_t)
    PTXLA_FROM(S32, int32_t)
    PTXLA_FROM(S64, int64_t)
    PTXLA_FROM(U8, uint8_t)
    PTXLA_FROM(U16, uint16_t)
    PTXLA_FROM(U32, uint32_t)
    PTXLA_FROM(U64, uint64_t)
    PTXLA_FROM(F32, float)
    PTXLA_FROM(F64, double)
    PTXLA_FROM(C64, std::complex<float>)
    PTXLA_FROM(C128, std::complex<double>)
#undef PTXLA_FROM
    default:
      return nullptr;
  }
}

}  // namespace ptxla::hlo
