#include "hlo_backend/ir/primitive_type.h"

#include <cstring>

namespace ptxla::hlo {
namespace {

struct TypeRow {
  const char* name;
  int number;
  int bits;
  TypeClass cls;
};

constexpr TypeRow kTypeRows[] = {
#define PTXLA_X(e, text, number, bits, cls) \
  {text, number, bits, TypeClass::cls},
    PTXLA_HLO_PRIMITIVE_TYPES(PTXLA_X)
#undef PTXLA_X
};

const TypeRow& Row(PrimitiveType type) {
  return kTypeRows[static_cast<int>(type)];
}

}  // namespace

absl::string_view PrimitiveTypeName(PrimitiveType type) {
  return Row(type).name;
}

std::optional<PrimitiveType> PrimitiveTypeFromName(absl::string_view name) {
  for (int i = 1; i < static_cast<int>(std::size(kTypeRows)); ++i) {
    const PrimitiveType type = static_cast<PrimitiveType>(i);
    if (name == kTypeRows[i].name && type != PrimitiveType::kTuple) return type;
  }
  return std::nullopt;
}

int PrimitiveTypeProtoNumber(PrimitiveType type) { return Row(type).number; }
TypeClass ClassOf(PrimitiveType type) { return Row(type).cls; }
int BitWidth(PrimitiveType type) { return Row(type).bits; }
int StorageBytes(PrimitiveType type) { return (Row(type).bits + 7) / 8; }

PrimitiveType ComplexComponent(PrimitiveType type) {
  if (type == PrimitiveType::kC64) return PrimitiveType::kF32;
  if (type == PrimitiveType::kC128) return PrimitiveType::kF64;
  return type;
}

}  // namespace ptxla::hlo
