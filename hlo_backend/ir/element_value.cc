#include "hlo_backend/ir/element_value.h"

#include <cmath>
#include <cstring>

#include "base/numerics/float_formats.h"
#include "hlo_backend/ir/float_format.h"

namespace ptxla::hlo {
namespace {

template <class T>
T Load(const uint8_t* bytes) {
  T value;
  std::memcpy(&value, bytes, sizeof(T));
  return value;
}

template <class T>
void Store(T value, uint8_t* bytes) {
  std::memcpy(bytes, &value, sizeof(T));
}

int64_t SaturatingToInt(double value) {
  if (std::isnan(value)) return 0;
  if (value >= 9223372036854775807.0) return INT64_MAX;
  if (value <= -9223372036854775808.0) return INT64_MIN;
  return static_cast<int64_t>(value);
}

}  // namespace

double LoadDouble(PrimitiveType type, const uint8_t* bytes) {
  switch (type) {
    case PrimitiveType::kF32:
      return Load<float>(bytes);
    case PrimitiveType::kF64:
      return Load<double>(bytes);
    case PrimitiveType::kBf16:
      return numerics::DecodeBf16(Load<uint16_t>(bytes));
    case PrimitiveType::kF16:
      return numerics::DecodeF16(Load<uint16_t>(bytes));
    case PrimitiveType::kF8E8M0Fnu:
      return numerics::DecodeF8E8M0(*bytes);
    case PrimitiveType::kU64:
      return static_cast<double>(Load<uint64_t>(bytes));
    default:
      if (IsFloat(type))
        return numerics::DecodeFloat(FloatFormatOf(type), *bytes);
      return static_cast<double>(LoadInt(type, bytes));
  }
}

int64_t LoadInt(PrimitiveType type, const uint8_t* bytes) {
  switch (type) {
    case PrimitiveType::kPred:
    case PrimitiveType::kU1:
    case PrimitiveType::kU2:
    case PrimitiveType::kU4:
    case PrimitiveType::kU8:
      return *bytes;
    case PrimitiveType::kS1:
    case PrimitiveType::kS2:
    case PrimitiveType::kS4:
    case PrimitiveType::kS8:
      return static_cast<int8_t>(*bytes);
    case PrimitiveType::kS16:
      return Load<int16_t>(bytes);
    case PrimitiveType::kU16:
      return Load<uint16_t>(bytes);
    case PrimitiveType::kS32:
      return Load<int32_t>(bytes);
    case PrimitiveType::kU32:
      return Load<uint32_t>(bytes);
    case PrimitiveType::kS64:
    case PrimitiveType::kU64:
      return Load<int64_t>(bytes);
    default:
      return SaturatingToInt(LoadDouble(type, bytes));
  }
}

std::complex<double> LoadComplex(PrimitiveType type, const uint8_t* bytes) {
  if (type == PrimitiveType::kC64) {
    return {Load<float>(bytes), Load<float>(bytes + 4)};
  }
  if (type == PrimitiveType::kC128) {
    return {Load<double>(bytes), Load<double>(bytes + 8)};
  }
  return {LoadDouble(type, bytes), 0};
}

void StoreDouble(PrimitiveType type, double value, uint8_t* bytes) {
  switch (type) {
    case PrimitiveType::kF32:
      return Store(static_cast<float>(value), bytes);
    case PrimitiveType::kF64:
      return Store(value, bytes);
    case PrimitiveType::kBf16:
    case PrimitiveType::kF16:
      return Store(static_cast<uint16_t>(
                       numerics::EncodeFloat(FloatFormatOf(type), value)),
                   bytes);
    case PrimitiveType::kF8E8M0Fnu:
      *bytes = numerics::EncodeF8E8M0(static_cast<float>(value));
      return;
    case PrimitiveType::kPred:
      *bytes = value != 0;
      return;
    case PrimitiveType::kC64:
    case PrimitiveType::kC128:
      return StoreComplex(type, value, bytes);
    case PrimitiveType::kU64:
      if (value >= 9223372036854775808.0) {
        return Store(value >= 18446744073709551615.0
                         ? UINT64_MAX
                         : static_cast<uint64_t>(value),
                     bytes);
      }
      return Store(std::max<int64_t>(0, SaturatingToInt(value)), bytes);
    default:
      break;
  }
  if (IsFloat(type)) {
    *bytes =
        static_cast<uint8_t>(numerics::EncodeFloat(FloatFormatOf(type), value));
    return;
  }
  const int bits = BitWidth(type);
  int64_t low = 0, high = INT64_MAX;
  if (IsSigned(type)) {
    low = bits == 64 ? INT64_MIN : -(int64_t{1} << (bits - 1));
    high = bits == 64 ? INT64_MAX : (int64_t{1} << (bits - 1)) - 1;
  } else {
    high = (int64_t{1} << bits) - 1;
  }
  StoreInt(type, std::min(high, std::max(low, SaturatingToInt(value))), bytes);
}

void StoreInt(PrimitiveType type, int64_t value, uint8_t* bytes) {
  switch (type) {
    case PrimitiveType::kPred:
      *bytes = value != 0;
      return;
    case PrimitiveType::kS1:
    case PrimitiveType::kS2:
    case PrimitiveType::kS4: {
      const int unused = 64 - BitWidth(type);
      *bytes = static_cast<uint8_t>(
          static_cast<int64_t>(static_cast<uint64_t>(value) << unused) >>
          unused);
      return;
    }
    case PrimitiveType::kU1:
    case PrimitiveType::kU2:
    case PrimitiveType::kU4:
      *bytes = static_cast<uint8_t>(value & ((1 << BitWidth(type)) - 1));
      return;
    default:
      break;
  }
  if (!IsInteger(type)) {
    return StoreDouble(type, static_cast<double>(value), bytes);
  }
  std::memcpy(bytes, &value, StorageBytes(type));
}

void StoreComplex(PrimitiveType type, std::complex<double> value,
                  uint8_t* bytes) {
  if (type == PrimitiveType::kC64) {
    Store(static_cast<float>(value.real()), bytes);
    Store(static_cast<float>(value.imag()), bytes + 4);
  } else if (type == PrimitiveType::kC128) {
    Store(value.real(), bytes);
    Store(value.imag(), bytes + 8);
  } else {
    StoreDouble(type, value.real(), bytes);
  }
}

}  // namespace ptxla::hlo
