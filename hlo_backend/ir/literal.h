// A constant value: a dense array in row-major logical order (whatever the
// layout of its shape), or a tuple of literals.
//
//   Literal x = Literal::FromVector<float>({2, 2}, {1, 2, 3, 4});
//   x.GetDouble(3) == 4; x.ToString() == "{ { 1, 2 }, { 3, 4 } }"
//   Literal zeros = Literal::Splat(Shape::Array(kBf16, {30522, 1024}), 0.0);
//
// Every element starts on a byte (StorageBytes): s4 takes one byte, sign
// extended; pred is 0 or 1; bf16, f16 and f8 types are their bits, little
// endian; a complex is (real, imaginary).
//
// A splat literal stores one element for all. An elided one, read from
// `constant({...})`, has a shape but no values: IsElided() before any access.
#ifndef PTXLA_HLO_BACKEND_IR_LITERAL_H_
#define PTXLA_HLO_BACKEND_IR_LITERAL_H_

#include <complex>
#include <cstdint>
#include <cstring>
#include <string>
#include <vector>

#include "absl/types/span.h"
#include "base/check.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::hlo {

// float -> kF32, bool -> kPred, std::complex<float> -> kC64 ...
template <class T>
constexpr PrimitiveType PrimitiveTypeOf();

class Literal {
 public:
  Literal() = default;
  // All elements zero (a splat). Tuples recursively.
  explicit Literal(const Shape& shape);

  static Literal Tuple(std::vector<Literal> elements);
  static Literal Elided(const Shape& shape);
  // Rounded to the element type.
  static Literal Splat(const Shape& shape, double value);
  static Literal SplatInt(const Shape& shape, int64_t value);
  // One element of `StorageBytes(shape.type())` bytes for all.
  static Literal SplatBytes(const Shape& shape,
                            absl::Span<const uint8_t> element);
  // Row-major bytes, ElementCount() * StorageBytes() of them. Of half a byte
  // only the lower bits count.
  static Literal FromBytes(const Shape& shape, std::vector<uint8_t> bytes);
  template <class T>
  static Literal FromVector(absl::Span<const int64_t> dims,
                            const std::vector<T>& values);
  template <class T>
  static Literal Scalar(T value) {
    return FromVector<T>({}, {value});
  }

  const Shape& shape() const { return shape_; }
  void set_shape_layout(const Shape& shape);  // same dims and type
  bool IsTuple() const { return shape_.IsTuple(); }
  bool IsElided() const { return elided_; }
  bool IsSplat() const { return splat_; }  // stored as one element
  // All elements have the same bits (looks at them).
  bool IsUniform() const;
  int64_t ElementCount() const { return shape_.ElementCount(); }
  int element_bytes() const { return StorageBytes(shape_.type()); }

  // Tuples.
  const std::vector<Literal>& elements() const { return elements_; }
  std::vector<Literal>* mutable_elements() { return &elements_; }
  const Literal& At(absl::Span<const int64_t> index) const;

  // The stored bytes: one element if IsSplat(), else all.
  absl::Span<const uint8_t> bytes() const { return bytes_; }
  // All elements; a splat is expanded first.
  absl::Span<uint8_t> mutable_bytes();
  // Pointer to the bytes of element i.
  const uint8_t* element(int64_t i) const {
    return bytes_.data() + (splat_ ? 0 : i * element_bytes());
  }
  // T must have the size of an element: float for f32, uint16_t for bf16 bits.
  template <class T>
  T Get(int64_t i) const {
    CHECK_EQ(sizeof(T), element_bytes());
    T value;
    std::memcpy(&value, element(i), sizeof(T));
    return value;
  }
  template <class T>
  void Set(int64_t i, T value) {
    CHECK_EQ(sizeof(T), element_bytes());
    std::memcpy(mutable_bytes().data() + i * sizeof(T), &value, sizeof(T));
  }

  // Conversions from any element type, and to it with round-to-nearest-even.
  double GetDouble(int64_t i) const;  // not complex
  int64_t GetInt(int64_t i) const;    // u64: the same bits; floats truncate
  std::complex<double> GetComplex(int64_t i) const;
  void SetDouble(int64_t i, double value);
  void SetInt(int64_t i, int64_t value);
  void SetComplex(int64_t i, std::complex<double> value);

  // IsUniform() and the value is this one.
  bool IsAll(double value) const;

  // Bitwise equality of shape (without layout) and values.
  bool operator==(const Literal& o) const;
  uint64_t Fingerprint() const;

  // XLA's text of the value, without the shape: "1.5", "{1, 2}",
  // "{ { 1, 2 }, { 3, 4 } }", "(1, {2, 3})", "{...}".
  std::string ToString() const;
  void AppendTo(std::string* out) const;

 private:
  void Expand();

  Shape shape_;
  std::vector<uint8_t> bytes_;
  std::vector<Literal> elements_;
  bool splat_ = false;
  bool elided_ = false;
};

#define PTXLA_X(type, name)                         \
  template <>                                       \
  constexpr PrimitiveType PrimitiveTypeOf<type>() { \
    return PrimitiveType::name;                     \
  }
PTXLA_X(bool, kPred)
PTXLA_X(int8_t, kS8)
PTXLA_X(int16_t, kS16)
PTXLA_X(int32_t, kS32)
PTXLA_X(int64_t, kS64)
PTXLA_X(uint8_t, kU8)
PTXLA_X(uint16_t, kU16)
PTXLA_X(uint32_t, kU32)
PTXLA_X(uint64_t, kU64)
PTXLA_X(float, kF32)
PTXLA_X(double, kF64)
PTXLA_X(std::complex<float>, kC64)
PTXLA_X(std::complex<double>, kC128)
#undef PTXLA_X

template <class T>
Literal Literal::FromVector(absl::Span<const int64_t> dims,
                            const std::vector<T>& values) {
  const Shape shape = Shape::Array(PrimitiveTypeOf<T>(), dims);
  CHECK_EQ(shape.ElementCount(), static_cast<int64_t>(values.size()));
  std::vector<uint8_t> bytes(values.size() * sizeof(T));
  for (size_t i = 0; i < values.size(); ++i) {
    const T value = values[i];  // also from the bits of vector<bool>
    std::memcpy(bytes.data() + i * sizeof(T), &value, sizeof(T));
  }
  return FromBytes(shape, std::move(bytes));
}

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_LITERAL_H_
