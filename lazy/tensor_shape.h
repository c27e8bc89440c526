// Element type, dimensions and layout of one array that a lazy node yields.
//
//   TensorShape s(PrimitiveType::kBf16, {8, 128});
//   s.ToString() == "bf16[8,128]{1,0}"; s.ByteSize() == 2048
//
// A layout that is row-major is stored as none. Layouts are those that XLA's
// own shape inference writes (a transpose permutes it, an elementwise operation
// keeps that of its first operand, most others start afresh), because
// PyTorch/XLA prints and compiles with them.
#ifndef PTXLA_LAZY_TENSOR_SHAPE_H_
#define PTXLA_LAZY_TENSOR_SHAPE_H_

#include <cstdint>
#include <string>
#include <utility>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/shape.h"

namespace ptxla::lazy {

using hlo::DimVector;
using hlo::PrimitiveType;

class TensorShape {
 public:
  TensorShape() = default;
  TensorShape(PrimitiveType type, DimVector dims)
      : type_(type), dims_(std::move(dims)) {}

  PrimitiveType type() const { return type_; }
  const DimVector& dims() const { return dims_; }
  int rank() const { return static_cast<int>(dims_.size()); }
  int64_t dim(int i) const { return dims_[i]; }
  bool IsScalar() const { return dims_.empty(); }
  int64_t ElementCount() const;
  int64_t ByteSize() const;

  // Empty: row-major.
  const DimVector& minor_to_major() const { return minor_to_major_; }
  // Stores a row-major order as none.
  void set_minor_to_major(DimVector order);

  TensorShape WithType(PrimitiveType type) const;  // same layout
  TensorShape RowMajor() const { return TensorShape(type_, dims_); }
  // Dimension i of the result is dimension permutation[i]; the elements stay.
  TensorShape Transposed(absl::Span<const int64_t> permutation) const;

  bool SameDims(const TensorShape& o) const { return dims_ == o.dims_; }
  bool operator==(const TensorShape& o) const {
    return type_ == o.type_ && dims_ == o.dims_ &&
           minor_to_major_ == o.minor_to_major_;
  }
  bool operator!=(const TensorShape& o) const { return !(*this == o); }

  uint64_t Hash() const;  // with the layout
  std::string ToString() const;
  hlo::Shape ToHlo() const;  // with the layout
  // InvalidArgument unless the text is one array shape.
  static absl::StatusOr<TensorShape> Parse(absl::string_view text);

 private:
  PrimitiveType type_ = PrimitiveType::kInvalid;
  DimVector dims_;
  DimVector minor_to_major_;
};

// PyTorch's type promotion of two tensors with dimensions: bool < integers <
// floats, the wider of two alike, f32 for bf16 with f16.
PrimitiveType PromoteTypes(PrimitiveType a, PrimitiveType b);

// NumPy broadcasting of the dimensions. CHECK fails when they do not fit.
DimVector BroadcastDims(absl::Span<const int64_t> a,
                        absl::Span<const int64_t> b);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_TENSOR_SHAPE_H_
