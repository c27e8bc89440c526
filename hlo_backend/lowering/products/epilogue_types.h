// Which types the epilogues of products read and write.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_EPILOGUE_TYPES_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_EPILOGUE_TYPES_H_

#include <cstdint>

#include "absl/status/status.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/lowering/fusion/small_float_conversion.h"

namespace ptxla::lowering {

// Unimplemented: `what` of the instruction.
inline absl::Status RefuseInEpilogue(const hlo::Instruction& i,
                                     absl::string_view what) {
  return absl::UnimplementedError(
      absl::StrCat("%", i.name(), ": ", what, " in the epilogue of a product"));
}

inline bool IsByte(hlo::PrimitiveType type) {
  return type == hlo::PrimitiveType::kPred || type == hlo::PrimitiveType::kU8 ||
         type == hlo::PrimitiveType::kS8;
}

// A byte in memory, f32 in registers.
inline bool IsByteFloat(hlo::PrimitiveType type) {
  return hlo::BitWidth(type) == 8 && SmallFloatFormatOf(type).has_value();
}

// Has a tile form that epilogues know.
inline bool IsTileType(hlo::PrimitiveType type) {
  return IsByte(type) || type == hlo::PrimitiveType::kF32 ||
         type == hlo::PrimitiveType::kBf16 ||
         type == hlo::PrimitiveType::kF16 || type == hlo::PrimitiveType::kS32 ||
         type == hlo::PrimitiveType::kU32;
}

// Of a result.
inline bool IsStoredType(hlo::PrimitiveType type) {
  return IsTileType(type) || IsByteFloat(type);
}

inline int64_t BytesOf(hlo::PrimitiveType type) {
  return hlo::BitWidth(type) / 8;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_EPILOGUE_TYPES_H_
