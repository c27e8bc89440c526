// The element types of HLO, with XLA's text names and protobuf numbers.
//
//   BitWidth(PrimitiveType::kBf16) == 16
//   PrimitiveTypeName(PrimitiveType::kF8E4M3Fn) == "f8e4m3fn"
//
// One row per type: enumerator, text name, number in xla_data.proto, bits of
// one element (0: no array type), class.
#ifndef PTXLA_HLO_BACKEND_IR_PRIMITIVE_TYPE_H_
#define PTXLA_HLO_BACKEND_IR_PRIMITIVE_TYPE_H_

#include <cstdint>
#include <optional>

#include "absl/strings/string_view.h"

// X(enumerator, text, proto number, bits, class)
#define PTXLA_HLO_PRIMITIVE_TYPES(X)               \
  X(kInvalid, "invalid", 0, 0, Other)              \
  X(kPred, "pred", 1, 8, Pred)                     \
  X(kS1, "s1", 30, 1, Signed)                      \
  X(kS2, "s2", 26, 2, Signed)                      \
  X(kS4, "s4", 21, 4, Signed)                      \
  X(kS8, "s8", 2, 8, Signed)                       \
  X(kS16, "s16", 3, 16, Signed)                    \
  X(kS32, "s32", 4, 32, Signed)                    \
  X(kS64, "s64", 5, 64, Signed)                    \
  X(kU1, "u1", 31, 1, Unsigned)                    \
  X(kU2, "u2", 27, 2, Unsigned)                    \
  X(kU4, "u4", 22, 4, Unsigned)                    \
  X(kU8, "u8", 6, 8, Unsigned)                     \
  X(kU16, "u16", 7, 16, Unsigned)                  \
  X(kU32, "u32", 8, 32, Unsigned)                  \
  X(kU64, "u64", 9, 64, Unsigned)                  \
  X(kF16, "f16", 10, 16, Float)                    \
  X(kBf16, "bf16", 16, 16, Float)                  \
  X(kF32, "f32", 11, 32, Float)                    \
  X(kF64, "f64", 12, 64, Float)                    \
  X(kF8E5M2, "f8e5m2", 19, 8, Float)               \
  X(kF8E4M3, "f8e4m3", 28, 8, Float)               \
  X(kF8E4M3Fn, "f8e4m3fn", 20, 8, Float)           \
  X(kF8E4M3B11Fnuz, "f8e4m3b11fnuz", 23, 8, Float) \
  X(kF8E3M4, "f8e3m4", 29, 8, Float)               \
  X(kF8E5M2Fnuz, "f8e5m2fnuz", 24, 8, Float)       \
  X(kF8E4M3Fnuz, "f8e4m3fnuz", 25, 8, Float)       \
  X(kF4E2M1Fn, "f4e2m1fn", 32, 4, Float)           \
  X(kF8E8M0Fnu, "f8e8m0fnu", 33, 8, Float)         \
  X(kF6E3M2Fn, "f6e3m2fn", 35, 6, Float)           \
  X(kF6E2M3Fn, "f6e2m3fn", 36, 6, Float)           \
  X(kC64, "c64", 15, 64, Complex)                  \
  X(kC128, "c128", 18, 128, Complex)               \
  X(kTuple, "tuple", 13, 0, Other)                 \
  X(kOpaque, "opaque", 14, 0, Other)               \
  X(kToken, "token", 17, 0, Other)                 \
  X(kBuffer, "b", 34, 0, Other)

namespace ptxla::hlo {

enum class PrimitiveType : uint8_t {
#define PTXLA_X(e, text, number, bits, cls) e,
  PTXLA_HLO_PRIMITIVE_TYPES(PTXLA_X)
#undef PTXLA_X
};

// Those that code names most.
inline constexpr PrimitiveType kF32 = PrimitiveType::kF32,
                               kS32 = PrimitiveType::kS32,
                               kU32 = PrimitiveType::kU32;

enum class TypeClass : uint8_t {
  Other,
  Pred,
  Signed,
  Unsigned,
  Float,
  Complex
};

// "f32"; never empty.
absl::string_view PrimitiveTypeName(PrimitiveType type);
// Lower case text, as in HLO; "tuple" and "invalid" are not accepted.
std::optional<PrimitiveType> PrimitiveTypeFromName(absl::string_view name);
int PrimitiveTypeProtoNumber(PrimitiveType type);

TypeClass ClassOf(PrimitiveType type);
// Bits of one element: pred 8, s4 4, c64 64; 0 for tuple, token, opaque.
int BitWidth(PrimitiveType type);
// Bytes of one element in a Literal, where every element starts on a byte:
// s4 takes 1, f32 4.
int StorageBytes(PrimitiveType type);

inline bool IsArrayType(PrimitiveType t) {
  return ClassOf(t) != TypeClass::Other;
}
inline bool IsFloat(PrimitiveType t) { return ClassOf(t) == TypeClass::Float; }
inline bool IsComplex(PrimitiveType t) {
  return ClassOf(t) == TypeClass::Complex;
}
inline bool IsSigned(PrimitiveType t) {
  return ClassOf(t) == TypeClass::Signed;
}
inline bool IsUnsigned(PrimitiveType t) {
  return ClassOf(t) == TypeClass::Unsigned;
}
// Signed or unsigned; pred is not an integer.
inline bool IsInteger(PrimitiveType t) { return IsSigned(t) || IsUnsigned(t); }

// c64 -> f32, c128 -> f64; other types give themselves.
PrimitiveType ComplexComponent(PrimitiveType type);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_PRIMITIVE_TYPE_H_
