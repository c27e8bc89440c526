#include "hlo_backend/ir/literal.h"

#include "base/hash.h"
#include "hlo_backend/ir/element_value.h"

namespace ptxla::hlo {

Literal::Literal(const Shape& shape) : shape_(shape) {
  if (shape.IsTuple()) {
    for (const Shape& element : shape.elements()) {
      elements_.emplace_back(element);
    }
    return;
  }
  bytes_.assign(element_bytes(), 0);
  splat_ = true;
}

Literal Literal::Tuple(std::vector<Literal> elements) {
  Literal literal;
  std::vector<Shape> shapes;
  shapes.reserve(elements.size());
  for (const Literal& e : elements) shapes.push_back(e.shape());
  literal.shape_ = Shape::Tuple(std::move(shapes));
  literal.elements_ = std::move(elements);
  return literal;
}

Literal Literal::Elided(const Shape& shape) {
  Literal literal(shape);
  literal.elided_ = true;
  return literal;
}

Literal Literal::Splat(const Shape& shape, double value) {
  Literal literal(shape);
  StoreDouble(shape.type(), value, literal.bytes_.data());
  return literal;
}

Literal Literal::SplatInt(const Shape& shape, int64_t value) {
  Literal literal(shape);
  StoreInt(shape.type(), value, literal.bytes_.data());
  return literal;
}

Literal Literal::SplatBytes(const Shape& shape,
                            absl::Span<const uint8_t> element) {
  CHECK_EQ(static_cast<int>(element.size()), StorageBytes(shape.type()));
  Literal literal(shape);
  literal.bytes_.assign(element.begin(), element.end());
  return literal;
}

Literal Literal::FromBytes(const Shape& shape, std::vector<uint8_t> bytes) {
  CHECK_EQ(static_cast<int64_t>(bytes.size()),
           shape.ElementCount() * StorageBytes(shape.type()));
  Literal literal;
  const int width = BitWidth(shape.type());
  if (width < 8 && IsSigned(shape.type())) {
    // A literal's bytes have the sign, memory's bits are the number's alone.
    const auto sign = static_cast<uint8_t>(1u << (width - 1));
    const auto all = static_cast<uint8_t>((1u << width) - 1);
    for (uint8_t& b : bytes)
      b = static_cast<uint8_t>(((b & all) ^ sign) - sign);
  }
  literal.shape_ = shape;
  literal.bytes_ = std::move(bytes);
  return literal;
}

void Literal::set_shape_layout(const Shape& shape) {
  CHECK(shape.SameDimsAndType(shape_));
  shape_ = shape;
}

const Literal& Literal::At(absl::Span<const int64_t> index) const {
  const Literal* literal = this;
  for (int64_t i : index) literal = &literal->elements_[i];
  return *literal;
}

void Literal::Expand() {
  if (!splat_) return;
  const int size = element_bytes();
  const int64_t count = ElementCount();
  std::vector<uint8_t> all(count * size);
  if (size == 1) {
    std::memset(all.data(), bytes_[0], all.size());
  } else {
    for (int64_t i = 0; i < count; ++i) {
      std::memcpy(all.data() + i * size, bytes_.data(), size);
    }
  }
  bytes_ = std::move(all);
  splat_ = false;
}

absl::Span<uint8_t> Literal::mutable_bytes() {
  Expand();
  elided_ = false;
  return absl::MakeSpan(bytes_);
}

bool Literal::IsUniform() const {
  if (IsTuple() || elided_) return false;
  if (splat_) return true;
  const int size = element_bytes();
  // All bytes equal those one element earlier.
  return static_cast<int>(bytes_.size()) > 0 &&
         std::memcmp(bytes_.data(), bytes_.data() + size,
                     bytes_.size() - size) == 0;
}

double Literal::GetDouble(int64_t i) const {
  return LoadDouble(shape_.type(), element(i));
}
int64_t Literal::GetInt(int64_t i) const {
  return LoadInt(shape_.type(), element(i));
}
std::complex<double> Literal::GetComplex(int64_t i) const {
  return LoadComplex(shape_.type(), element(i));
}
void Literal::SetDouble(int64_t i, double value) {
  StoreDouble(shape_.type(), value,
              mutable_bytes().data() + i * element_bytes());
}
void Literal::SetInt(int64_t i, int64_t value) {
  StoreInt(shape_.type(), value, mutable_bytes().data() + i * element_bytes());
}
void Literal::SetComplex(int64_t i, std::complex<double> value) {
  StoreComplex(shape_.type(), value,
               mutable_bytes().data() + i * element_bytes());
}

bool Literal::IsAll(double value) const {
  if (!shape_.IsArray() || shape_.ElementCount() == 0) return false;
  return IsUniform() && GetComplex(0) == std::complex<double>(value, 0);
}

bool Literal::operator==(const Literal& o) const {
  if (!shape_.SameDimsAndType(o.shape_) || elided_ != o.elided_) return false;
  if (IsTuple()) return elements_ == o.elements_;
  if (elided_) return true;
  if (splat_ == o.splat_) return bytes_ == o.bytes_;
  const int size = element_bytes();
  const int64_t count = ElementCount();
  for (int64_t i = 0; i < count; ++i) {
    if (std::memcmp(element(i), o.element(i), size) != 0) return false;
  }
  return true;
}

uint64_t Literal::Fingerprint() const {
  ptxla::Fingerprint f;
  f.Add(static_cast<int64_t>(shape_.Fingerprint()));
  f.Add(static_cast<int64_t>(elided_));
  for (const Literal& e : elements_) {
    f.Add(static_cast<int64_t>(e.Fingerprint()));
  }
  if (IsTuple() || elided_ || bytes_.empty()) return f.value();
  // A splat and its expansion are equal, so they hash alike.
  const bool uniform = IsUniform();
  const size_t length = uniform ? element_bytes() : bytes_.size();
  f.Add(
      absl::string_view(reinterpret_cast<const char*>(bytes_.data()), length));
  return f.value();
}

}  // namespace ptxla::hlo
