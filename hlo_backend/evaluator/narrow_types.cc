#include "base/numerics/float_formats.h"
#include "hlo_backend/evaluator/elementwise.h"

namespace ptxla::hlo {
namespace {

struct F8E8M0 {
  F8E8M0() = default;
  explicit F8E8M0(float value) : bits(numerics::EncodeF8E8M0(value)) {}
  explicit F8E8M0(double value)
      : bits(numerics::EncodeF8E8M0(static_cast<float>(value))) {}
  explicit operator float() const { return numerics::DecodeF8E8M0(bits); }
  uint8_t bits = 0;
};

// Formats of 8 bits and fewer are decoded by table.
template <class T>
struct DecodeTable {
  DecodeTable() {
    for (int code = 0; code < 256; ++code) {
      const uint8_t bits = static_cast<uint8_t>(code);
      value[code] = static_cast<float>(numerics::BitCast<T>(bits));
    }
  }
  float value[256];
};

template <class T>
void DecodeFloats(const void* in, void* out, int64_t n) {
  float* to = static_cast<float*>(out);
  if constexpr (sizeof(T) == 1) {
    const uint8_t* from = static_cast<const uint8_t*>(in);
    if (n < 64) {
      for (int64_t i = 0; i < n; ++i) {
        to[i] = static_cast<float>(numerics::BitCast<T>(from[i]));
      }
      return;
    }
    const DecodeTable<T> table;
    for (int64_t i = 0; i < n; ++i) to[i] = table.value[from[i]];
  } else {
    const T* from = static_cast<const T*>(in);
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<float>(from[i]);
  }
}

template <class T, class From>
void EncodeFloats(const void* in, void* out, int64_t n) {
  const From* from = static_cast<const From*>(in);
  T* to = static_cast<T*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = T(from[i]);
}

void CopyBytes(const void* in, void* out, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i];
}

template <int kBits>
void EncodeSigned(const void* in, void* out, int64_t n) {
  const int8_t* from = static_cast<const int8_t*>(in);
  int8_t* to = static_cast<int8_t*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = numerics::WrapSigned<kBits>(from[i]);
}

// Of an integer of kBits stored in a byte: the bits alone.
template <int kBits>
void DecodeBits(const void* in, void* out, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) to[i] = from[i] & ((1 << kBits) - 1);
}

// The bits at the top of a byte; with kBelow a one below them, so that the byte
// has as many leading zeros as the integer.
template <int kBits, int kBelow>
void DecodeToTop(const void* in, void* out, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] =
        static_cast<uint8_t>(from[i] << (8 - kBits) | kBelow << (7 - kBits));
  }
}

// To the nearest integer that there is, where convert saturates.
template <int kBits>
void EncodeSaturatedSigned(const void* in, void* out, int64_t n) {
  const int8_t* from = static_cast<const int8_t*>(in);
  int8_t* to = static_cast<int8_t*>(out);
  constexpr int kHigh = (1 << (kBits - 1)) - 1;
  for (int64_t i = 0; i < n; ++i) {
    const int value = from[i];
    to[i] = static_cast<int8_t>(
        value > kHigh ? kHigh : (value < -kHigh - 1 ? -kHigh - 1 : value));
  }
}

template <int kBits>
void EncodeSaturatedUnsigned(const void* in, void* out, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  constexpr int kHigh = (1 << kBits) - 1;
  for (int64_t i = 0; i < n; ++i) {
    to[i] = static_cast<uint8_t>(from[i] > kHigh ? kHigh : from[i]);
  }
}

template <int kBits>
void EncodeUnsigned(const void* in, void* out, int64_t n) {
  const uint8_t* from = static_cast<const uint8_t*>(in);
  uint8_t* to = static_cast<uint8_t*>(out);
  for (int64_t i = 0; i < n; ++i) {
    to[i] = numerics::WrapUnsigned<kBits>(from[i]);
  }
}

}  // namespace

// X(type, class)
#define PTXLA_NARROW_FLOATS(X)               \
  X(kBf16, numerics::Bfloat16)               \
  X(kF16, numerics::Half)                    \
  X(kF8E5M2, numerics::F8E5M2)               \
  X(kF8E4M3, numerics::F8E4M3)               \
  X(kF8E4M3Fn, numerics::F8E4M3Fn)           \
  X(kF8E4M3B11Fnuz, numerics::F8E4M3B11Fnuz) \
  X(kF8E3M4, numerics::F8E3M4)               \
  X(kF8E5M2Fnuz, numerics::F8E5M2Fnuz)       \
  X(kF8E4M3Fnuz, numerics::F8E4M3Fnuz)       \
  X(kF4E2M1Fn, numerics::F4E2M1Fn)           \
  X(kF6E3M2Fn, numerics::F6E3M2Fn)           \
  X(kF6E2M3Fn, numerics::F6E2M3Fn)           \
  X(kF8E8M0Fnu, F8E8M0)

PrimitiveType WideType(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kS1:
    case PrimitiveType::kS2:
    case PrimitiveType::kS4:
      return PrimitiveType::kS8;
    case PrimitiveType::kU1:
    case PrimitiveType::kU2:
    case PrimitiveType::kU4:
      return PrimitiveType::kU8;
    case PrimitiveType::kF64:
      return type;
    default:
      return IsFloat(type) ? PrimitiveType::kF32 : type;
  }
}

Decoder DecoderOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kS1:
    case PrimitiveType::kS2:
    case PrimitiveType::kS4:
    case PrimitiveType::kU1:
    case PrimitiveType::kU2:
    case PrimitiveType::kU4:
      return CopyBytes;
#define PTXLA_X(name, T)    \
  case PrimitiveType::name: \
    return DecodeFloats<T>;
      PTXLA_NARROW_FLOATS(PTXLA_X)
#undef PTXLA_X
    default:
      return nullptr;
  }
}

template <int kBits>
Decoder BitsDecoder(BitsForm form) {
  switch (form) {
    case BitsForm::kAlone:
      return DecodeBits<kBits>;
    case BitsForm::kAtTop:
      return DecodeToTop<kBits, 0>;
    case BitsForm::kAtTopAboveOne:
      return DecodeToTop<kBits, 1>;
  }
  return nullptr;
}

Decoder BitsDecoderOf(PrimitiveType type, BitsForm form) {
  switch (BitWidth(type)) {
    case 1:
      return BitsDecoder<1>(form);
    case 2:
      return BitsDecoder<2>(form);
    case 4:
      return BitsDecoder<4>(form);
    default:
      return nullptr;
  }
}

Encoder SaturatingEncoderOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kS1:
      return EncodeSaturatedSigned<1>;
    case PrimitiveType::kS2:
      return EncodeSaturatedSigned<2>;
    case PrimitiveType::kS4:
      return EncodeSaturatedSigned<4>;
    case PrimitiveType::kU1:
      return EncodeSaturatedUnsigned<1>;
    case PrimitiveType::kU2:
      return EncodeSaturatedUnsigned<2>;
    case PrimitiveType::kU4:
      return EncodeSaturatedUnsigned<4>;
    default:
      return EncoderOf(type);
  }
}

Encoder EncoderOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kS1:
      return EncodeSigned<1>;
    case PrimitiveType::kS2:
      return EncodeSigned<2>;
    case PrimitiveType::kS4:
      return EncodeSigned<4>;
    case PrimitiveType::kU1:
      return EncodeUnsigned<1>;
    case PrimitiveType::kU2:
      return EncodeUnsigned<2>;
    case PrimitiveType::kU4:
      return EncodeUnsigned<4>;
#define PTXLA_X(name, T)    \
  case PrimitiveType::name: \
    return EncodeFloats<T, float>;
      PTXLA_NARROW_FLOATS(PTXLA_X)
#undef PTXLA_X
    default:
      return nullptr;
  }
}

Encoder EncoderFromDouble(PrimitiveType type) {
  switch (type) {
#define PTXLA_X(name, T)    \
  case PrimitiveType::name: \
    return EncodeFloats<T, double>;
    PTXLA_NARROW_FLOATS(PTXLA_X)
#undef PTXLA_X
    default:
      return nullptr;
  }
}

}  // namespace ptxla::hlo
