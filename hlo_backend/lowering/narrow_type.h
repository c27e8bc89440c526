// The packed types of HLO as codegen/narrow_tiles.h names them.
#ifndef PTXLA_HLO_BACKEND_LOWERING_NARROW_TYPE_H_
#define PTXLA_HLO_BACKEND_LOWERING_NARROW_TYPE_H_

#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"

namespace ptxla::lowering {

// Of a type of 4, 8 or 16 bits; pred as u8, f16 as what lies in the upper
// halves of words, f8e5m2 as the upper halves of those
// (fusion/f16_conversion.h), other floats as integers with a sign
// (fusion/small_float_conversion.h).
inline codegen::NarrowType NarrowTypeOf(hlo::PrimitiveType type) {
  if (type == hlo::PrimitiveType::kBf16 || type == hlo::PrimitiveType::kF16)
    return codegen::NarrowType::kBf16;
  if (type == hlo::PrimitiveType::kF8E5M2) return codegen::NarrowType::kTopByte;
  const bool is_signed = hlo::IsSigned(type) || hlo::IsFloat(type);
  if (hlo::BitWidth(type) == 16) {
    return is_signed ? codegen::NarrowType::kS16 : codegen::NarrowType::kU16;
  }
  if (hlo::BitWidth(type) == 4) {
    return is_signed ? codegen::NarrowType::kS4 : codegen::NarrowType::kU4;
  }
  return is_signed ? codegen::NarrowType::kS8 : codegen::NarrowType::kU8;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_NARROW_TYPE_H_
