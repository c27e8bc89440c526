#include "hlo_backend/ir/float_format.h"

#include "base/check.h"

namespace ptxla::hlo {

const numerics::FloatFormat& FloatFormatOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF16:
      return numerics::kF16;
    case PrimitiveType::kBf16:
      return numerics::kBf16;
    case PrimitiveType::kF8E5M2:
      return numerics::kF8E5M2;
    case PrimitiveType::kF8E4M3:
      return numerics::kF8E4M3;
    case PrimitiveType::kF8E4M3Fn:
      return numerics::kF8E4M3Fn;
    case PrimitiveType::kF8E4M3B11Fnuz:
      return numerics::kF8E4M3B11Fnuz;
    case PrimitiveType::kF8E3M4:
      return numerics::kF8E3M4;
    case PrimitiveType::kF8E5M2Fnuz:
      return numerics::kF8E5M2Fnuz;
    case PrimitiveType::kF8E4M3Fnuz:
      return numerics::kF8E4M3Fnuz;
    case PrimitiveType::kF4E2M1Fn:
      return numerics::kF4E2M1Fn;
    case PrimitiveType::kF6E3M2Fn:
      return numerics::kF6E3M2Fn;
    case PrimitiveType::kF6E2M3Fn:
      return numerics::kF6E2M3Fn;
    default:
      CHECK(false) << PrimitiveTypeName(type) << " is no narrow float type";
      return numerics::kF16;
  }
}

}  // namespace ptxla::hlo
