#include "hlo_backend/proto/literal_proto.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/proto/repeated_fields.h"
#include "hlo_backend/proto/shape_proto.h"

namespace ptxla::hlo {
namespace {

// For the n-th value in memory order, the row-major index of its element.
// Empty: they are the same.
std::vector<int64_t> MemoryOrder(const Shape& shape) {
  if (!shape.has_layout() || shape.layout().IsRowMajor() || shape.rank() < 2) {
    return {};
  }
  const int rank = shape.rank();
  DimVector strides(rank, 1);
  for (int d = rank - 2; d >= 0; --d) {
    strides[d] = strides[d + 1] * shape.dim(d + 1);
  }
  std::vector<int64_t> order(shape.ElementCount());
  DimVector index(rank, 0);
  int64_t at = 0;
  for (int64_t& o : order) {
    o = at;
    for (int64_t d : shape.layout().minor_to_major) {
      at += strides[d];
      if (++index[d] < shape.dim(d)) break;
      at -= index[d] * strides[d];
      index[d] = 0;
    }
  }
  return order;
}

template <class T, class Field>
void Put(const Literal& literal, const std::vector<int64_t>& order,
         Field* field) {
  const int64_t count = literal.ElementCount();
  field->Reserve(static_cast<int>(count));
  for (int64_t i = 0; i < count; ++i) {
    T value;
    std::memcpy(&value, literal.element(order.empty() ? i : order[i]),
                sizeof(T));
    field->Add(value);
  }
}

template <class T, class Field>
void PutComplex(const Literal& literal, const std::vector<int64_t>& order,
                Field* field) {
  for (int64_t i = 0; i < literal.ElementCount(); ++i) {
    T value[2];
    std::memcpy(value, literal.element(order.empty() ? i : order[i]),
                sizeof(value));
    field->Add(value[0]);
    field->Add(value[1]);
  }
}

// Types below a byte stand in the low bits of one, the rest zero.
uint8_t Mask(PrimitiveType type) {
  const int bits = BitWidth(type);
  return bits < 8 ? static_cast<uint8_t>((1 << bits) - 1) : 0xff;
}

void PutBytes(const Literal& literal, const std::vector<int64_t>& order,
              std::string* field) {
  const int size = literal.element_bytes();
  const int64_t count = literal.ElementCount();
  const uint8_t mask = size == 1 ? Mask(literal.shape().type()) : 0xff;
  field->resize(count * size);
  for (int64_t i = 0; i < count; ++i) {
    const uint8_t* from = literal.element(order.empty() ? i : order[i]);
    for (int b = 0; b < size; ++b) {
      (*field)[i * size + b] = static_cast<char>(from[b] & mask);
    }
  }
}

absl::Status WrongCount(const Shape& shape, int64_t got) {
  return absl::InvalidArgumentError(
      absl::StrCat("a literal of ", shape.ToString(), " has ", got,
                   " values instead of ", shape.ElementCount()));
}

template <class T, class Field>
absl::StatusOr<Literal> Take(const Shape& shape, const Field& field,
                             int per_element = 1) {
  const int64_t count = field.size() / per_element;
  if (count == 0 && shape.ElementCount() != 0) return Literal::Elided(shape);
  if (count != shape.ElementCount() || field.size() % per_element != 0) {
    return WrongCount(shape, count);
  }
  const std::vector<int64_t> order = MemoryOrder(shape);
  std::vector<uint8_t> bytes(count * per_element * sizeof(T));
  for (int64_t i = 0; i < count; ++i) {
    const int64_t to = order.empty() ? i : order[i];
    for (int p = 0; p < per_element; ++p) {
      const T value = static_cast<T>(field[i * per_element + p]);
      std::memcpy(bytes.data() + (to * per_element + p) * sizeof(T), &value,
                  sizeof(T));
    }
  }
  return Literal::FromBytes(shape, std::move(bytes));
}

absl::StatusOr<Literal> TakeBytes(const Shape& shape,
                                  const std::string& field) {
  const int size = StorageBytes(shape.type());
  const int64_t count = static_cast<int64_t>(field.size()) / size;
  if (field.empty() && shape.ElementCount() != 0) return Literal::Elided(shape);
  if (count != shape.ElementCount() || field.size() % size != 0) {
    return WrongCount(shape, count);
  }
  const std::vector<int64_t> order = MemoryOrder(shape);
  const int unused = 8 - std::min(BitWidth(shape.type()), 8);
  std::vector<uint8_t> bytes(field.size());
  for (int64_t i = 0; i < count; ++i) {
    uint8_t* to = bytes.data() + (order.empty() ? i : order[i]) * size;
    std::memcpy(to, field.data() + i * size, size);
    if (unused == 0) continue;
    // Signed types below a byte are kept sign extended.
    *to = static_cast<uint8_t>(*to << unused);
    *to = IsSigned(shape.type())
              ? static_cast<uint8_t>(static_cast<int8_t>(*to) >> unused)
              : static_cast<uint8_t>(*to >> unused);
  }
  return Literal::FromBytes(shape, std::move(bytes));
}

// The types whose values are a `bytes` field: X(type, field).
#define PTXLA_BYTE_FIELDS(X)        \
  X(kS1, s1s)                       \
  X(kS2, s2s)                       \
  X(kS4, s4s)                       \
  X(kS8, s8s)                       \
  X(kS16, s16s)                     \
  X(kU1, u1s)                       \
  X(kU2, u2s)                       \
  X(kU4, u4s)                       \
  X(kU8, u8s)                       \
  X(kU16, u16s)                     \
  X(kF16, f16s)                     \
  X(kBf16, bf16s)                   \
  X(kF8E5M2, f8e5m2s)               \
  X(kF8E4M3, f8e4m3s)               \
  X(kF8E4M3Fn, f8e4m3fns)           \
  X(kF8E4M3B11Fnuz, f8e4m3b11fnuzs) \
  X(kF8E3M4, f8e3m4s)               \
  X(kF8E5M2Fnuz, f8e5m2fnuzs)       \
  X(kF8E4M3Fnuz, f8e4m3fnuzs)       \
  X(kF4E2M1Fn, f4e2m1fns)           \
  X(kF8E8M0Fnu, f8e8m0fnus)         \
  X(kF6E3M2Fn, f6e3m2fns)           \
  X(kF6E2M3Fn, f6e2m3fns)

// Those with a repeated field of numbers: X(type, C++ type, field).
#define PTXLA_NUMBER_FIELDS(X) \
  X(kPred, uint8_t, preds)     \
  X(kS32, int32_t, s32s)       \
  X(kS64, int64_t, s64s)       \
  X(kU32, uint32_t, u32s)      \
  X(kU64, uint64_t, u64s)      \
  X(kF32, float, f32s)         \
  X(kF64, double, f64s)

absl::StatusOr<Literal> LiteralFromProto(const proto::LiteralProto& in,
                                         int depth) {
  if (depth > kMaxProtoNesting) {
    return absl::InvalidArgumentError("a literal nests too deep");
  }
  ASSIGN_OR_RETURN(const Shape shape, FromProto(in.shape()));
  if (shape.IsTuple()) {
    if (in.tuple_literals_size() != shape.element_count_of_tuple()) {
      return absl::InvalidArgumentError(
          absl::StrCat("a literal of ", shape.ToString(), " has ",
                       in.tuple_literals_size(), " elements"));
    }
    std::vector<Literal> elements;
    for (const proto::LiteralProto& e : in.tuple_literals()) {
      ASSIGN_OR_RETURN(Literal element, LiteralFromProto(e, depth + 1));
      elements.push_back(std::move(element));
    }
    return Literal::Tuple(std::move(elements));
  }
  switch (shape.type()) {
#define PTXLA_X(type, field) \
  case PrimitiveType::type:  \
    return TakeBytes(shape, in.field());
    PTXLA_BYTE_FIELDS(PTXLA_X)
#undef PTXLA_X
#define PTXLA_X(type, cpp, field) \
  case PrimitiveType::type:       \
    return Take<cpp>(shape, in.field());
    PTXLA_NUMBER_FIELDS(PTXLA_X)
#undef PTXLA_X
    case PrimitiveType::kC64:
      return Take<float>(shape, in.c64s(), 2);
    case PrimitiveType::kC128:
      return Take<double>(shape, in.c128s(), 2);
    default:
      return absl::InvalidArgumentError(
          absl::StrCat("no literal has the shape ", shape.ToString()));
  }
}

}  // namespace

absl::Status ToProto(const Literal& literal, proto::LiteralProto* out) {
  RETURN_IF_ERROR(ToProto(literal.shape(), out->mutable_shape()));
  for (const Literal& element : literal.elements()) {
    RETURN_IF_ERROR(ToProto(element, out->add_tuple_literals()));
  }
  if (literal.IsTuple() || literal.IsElided()) return absl::OkStatus();
  const std::vector<int64_t> order = MemoryOrder(literal.shape());
  switch (literal.shape().type()) {
#define PTXLA_X(type, field)                          \
  case PrimitiveType::type:                           \
    PutBytes(literal, order, out->mutable_##field()); \
    break;
    PTXLA_BYTE_FIELDS(PTXLA_X)
#undef PTXLA_X
#define PTXLA_X(type, cpp, field)                     \
  case PrimitiveType::type:                           \
    Put<cpp>(literal, order, out->mutable_##field()); \
    break;
    PTXLA_NUMBER_FIELDS(PTXLA_X)
#undef PTXLA_X
    case PrimitiveType::kC64:
      PutComplex<float>(literal, order, out->mutable_c64s());
      break;
    case PrimitiveType::kC128:
      PutComplex<double>(literal, order, out->mutable_c128s());
      break;
    default:
      return absl::InvalidArgumentError(absl::StrCat(
          "no literal has the shape ", literal.shape().ToString()));
  }
  return absl::OkStatus();
}

absl::StatusOr<Literal> FromProto(const proto::LiteralProto& in) {
  return LiteralFromProto(in, 0);
}

}  // namespace ptxla::hlo
