#include "lazy/tensor_shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"
#include "base/status.h"

namespace ptxla::lazy {

int64_t TensorShape::ElementCount() const {
  int64_t count = 1;
  for (int64_t d : dims_) count *= d;
  return count;
}

int64_t TensorShape::ByteSize() const {
  return (ElementCount() * hlo::BitWidth(type_) + 7) / 8;
}

void TensorShape::set_minor_to_major(DimVector order) {
  bool row_major = true;
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    row_major &= order[i] == rank() - 1 - i;
  }
  if (row_major) {
    minor_to_major_.clear();
  } else {
    minor_to_major_ = std::move(order);
  }
}

TensorShape TensorShape::WithType(PrimitiveType type) const {
  TensorShape result = *this;
  result.type_ = type;
  return result;
}

TensorShape TensorShape::Transposed(
    absl::Span<const int64_t> permutation) const {
  const int n = rank();
  CHECK_EQ(static_cast<int>(permutation.size()), n);
  DimVector dims(n), inverse(n), order(n);
  for (int i = 0; i < n; ++i) {
    dims[i] = dims_[permutation[i]];
    inverse[permutation[i]] = i;
  }
  for (int i = 0; i < n; ++i) {
    order[i] =
        inverse[minor_to_major_.empty() ? n - 1 - i : minor_to_major_[i]];
  }
  TensorShape result(type_, std::move(dims));
  result.set_minor_to_major(std::move(order));
  return result;
}

uint64_t TensorShape::Hash() const {
  Fingerprint f;
  f.Add(static_cast<int64_t>(type_)).Add(dims_).Add(minor_to_major_);
  return f.value();
}

std::string TensorShape::ToString() const {
  std::string out(hlo::PrimitiveTypeName(type_));
  out += '[';
  for (int i = 0; i < rank(); ++i) {
    absl::StrAppend(&out, i ? "," : "", dims_[i]);
  }
  out += ']';
  if (rank() == 0) return out;
  out += '{';
  for (int i = 0; i < rank(); ++i) {
    absl::StrAppend(
        &out, i ? "," : "",
        minor_to_major_.empty() ? rank() - 1 - i : minor_to_major_[i]);
  }
  out += '}';
  return out;
}

hlo::Shape TensorShape::ToHlo() const {
  hlo::Shape shape = hlo::Shape::ArrayRowMajor(type_, dims_);
  if (!minor_to_major_.empty()) {
    shape.mutable_layout()->minor_to_major = minor_to_major_;
  }
  return shape;
}

absl::StatusOr<TensorShape> TensorShape::Parse(absl::string_view text) {
  ASSIGN_OR_RETURN(hlo::Shape shape, hlo::ParseShape(text));
  if (!shape.IsArray()) {
    return absl::InvalidArgumentError(
        absl::StrCat("expected the shape of an array, got ", text));
  }
  for (int64_t d : shape.dims()) {
    if (d < 0) return absl::InvalidArgumentError("a dimension is unbounded");
  }
  // Saturates; sums and products of sizes stay in range below.
  if (shape.ElementCount() > (int64_t{1} << 48)) {
    return absl::InvalidArgumentError(
        absl::StrCat(text, " has too many elements"));
  }
  TensorShape result(shape.type(), shape.dims());
  if (shape.has_layout()) {
    result.set_minor_to_major(shape.layout().minor_to_major);
  }
  return result;
}

PrimitiveType PromoteTypes(PrimitiveType a, PrimitiveType b) {
  if (a == b) return a;
  auto category = [](PrimitiveType t) {
    return hlo::IsFloat(t) ? 2 : (t == PrimitiveType::kPred ? 0 : 1);
  };
  if (category(a) != category(b)) return category(a) > category(b) ? a : b;
  if (hlo::BitWidth(a) != hlo::BitWidth(b)) {
    return hlo::BitWidth(a) > hlo::BitWidth(b) ? a : b;
  }
  if (category(a) == 2) return PrimitiveType::kF32;  // bf16 with f16
  // One signed, one unsigned of the same width: PyTorch has only u8, and
  // gives s16.
  return PrimitiveType::kS16;
}

DimVector BroadcastDims(absl::Span<const int64_t> a,
                        absl::Span<const int64_t> b) {
  const size_t rank = std::max(a.size(), b.size());
  DimVector dims(rank);
  for (size_t i = 0; i < rank; ++i) {  // from the minor end
    const int64_t x = i < a.size() ? a[a.size() - 1 - i] : 1;
    const int64_t y = i < b.size() ? b[b.size() - 1 - i] : 1;
    CHECK(x == y || x == 1 || y == 1)
        << "dimensions " << x << " and " << y << " do not broadcast";
    dims[rank - 1 - i] = x == 1 ? y : x;
  }
  return dims;
}

}  // namespace ptxla::lazy
