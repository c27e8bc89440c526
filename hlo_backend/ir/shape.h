// The type of a value: an array (element type, dimensions, optional layout), a
// tuple of shapes, a token, or an opaque handle. Cheap to copy: a tuple shares
// its elements until one copy is changed.
//
//   Shape s = Shape::Array(PrimitiveType::kBf16, {8, 128});
//   s.ToString() == "bf16[8,128]"; s.ByteSize() == 2048
//   ASSIGN_OR_RETURN(Shape t, ParseShape("(f32[2,3]{1,0}, s32[])"));
#ifndef PTXLA_HLO_BACKEND_IR_SHAPE_H_
#define PTXLA_HLO_BACKEND_IR_SHAPE_H_

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "absl/types/span.h"
#include "hlo_backend/ir/layout.h"
#include "hlo_backend/ir/primitive_type.h"

namespace ptxla::hlo {

// Path into nested tuples: {1, 0} is element 0 of element 1; {} the whole.
using ShapeIndex = absl::InlinedVector<int64_t, 2>;

class Shape {
 public:
  // A dimension printed "?": neither size nor bound is known.
  static constexpr int64_t kUnbounded = INT64_MIN;

  Shape() = default;  // invalid type
  static Shape Array(PrimitiveType type, absl::Span<const int64_t> dimensions);
  static Shape Scalar(PrimitiveType type) { return Array(type, {}); }
  // Array with layout {rank-1, ..., 0}.
  static Shape ArrayRowMajor(PrimitiveType type,
                             absl::Span<const int64_t> dimensions);
  static Shape Tuple(std::vector<Shape> elements);
  static Shape Token();
  static Shape Opaque();
  // A buffer type (`b(f32[8])`), a tuple of one inside.
  static Shape Buffer(Shape array);

  PrimitiveType type() const { return type_; }
  void set_type(PrimitiveType type) { type_ = type; }
  bool IsArray() const { return IsArrayType(type_); }
  bool IsTuple() const { return type_ == PrimitiveType::kTuple; }
  bool IsToken() const { return type_ == PrimitiveType::kToken; }
  bool IsBuffer() const { return type_ == PrimitiveType::kBuffer; }
  bool IsScalar() const { return IsArray() && dims_.empty(); }

  // Arrays. A dynamic dimension's size is its upper bound.
  int rank() const { return static_cast<int>(dims_.size()); }
  const DimVector& dims() const { return dims_; }
  int64_t dim(int i) const { return dims_[i]; }
  void set_dim(int i, int64_t size) { dims_[i] = size; }
  void add_dim(int64_t size) { dims_.push_back(size); }
  bool is_dynamic_dim(int i) const { return (dynamic_ >> i) & 1; }
  void set_dynamic_dim(int i, bool dynamic);
  bool HasDynamicDims() const;  // also inside tuples
  // Any dimension is "?".
  bool HasUnboundedDims() const;

  // Tuples. Empty for arrays.
  absl::Span<const Shape> elements() const {
    return elements_ ? absl::MakeConstSpan(*elements_)
                     : absl::Span<const Shape>();
  }
  int element_count_of_tuple() const {
    return static_cast<int>(elements().size());
  }
  const Shape& element(int i) const { return (*elements_)[i]; }
  Shape* mutable_element(int i);  // unshares

  // Layout of an array; absent means "not chosen yet".
  bool has_layout() const { return layout_.has_value(); }
  const Layout& layout() const { return *layout_; }
  Layout* mutable_layout();  // makes a row-major one if absent
  void set_layout(Layout layout) { layout_ = std::move(layout); }
  void clear_layout();  // also inside tuples
  int memory_space() const { return layout_ ? layout_->memory_space : 0; }

  // Product of dimensions of an array (bounds for dynamic ones); 0 elements
  // give 0. Saturates at INT64_MAX. Tuples: CHECK fails.
  int64_t ElementCount() const;
  // Bytes of the elements without padding; sub-byte types are packed
  // (s4[3] takes 2). Tuples: sum of the leaves; tokens 0.
  int64_t ByteSize() const;
  // Number of arrays and tokens in the nested tuple; 1 for an array.
  int64_t LeafCount() const;

  // Shape at the path. CHECK fails when there is none.
  const Shape& At(absl::Span<const int64_t> index) const;
  bool HasIndex(absl::Span<const int64_t> index) const;

  // Same type and dimensions, dynamic flags and layouts included.
  bool operator==(const Shape& o) const;
  bool operator!=(const Shape& o) const { return !(*this == o); }
  // Ignoring layouts and dynamic flags ("compatible").
  bool SameDimsAndType(const Shape& o) const;
  // Same dimensions, whatever the element type.
  bool SameDims(const Shape& o) const;

  // "f32[2,3]{1,0}", "(f32[2], s32[])", "f32[<=8,?]", "token[]".
  std::string ToString() const;  // without layout
  std::string ToStringWithLayout() const;
  void AppendTo(std::string* out, bool with_layout) const;

  // Adds type and dimensions to a stable hash.
  uint64_t Fingerprint(bool with_layout = false) const;

 private:
  std::shared_ptr<std::vector<Shape>> elements_;
  DimVector dims_;
  uint64_t dynamic_ = 0;  // bit i: dimension i is dynamic
  std::optional<Layout> layout_;
  PrimitiveType type_ = PrimitiveType::kInvalid;
};

// Calls `fn(const Shape& leaf, const ShapeIndex& index)` on every leaf in
// order.
template <class Fn>
void ForEachLeaf(const Shape& shape, Fn fn, ShapeIndex index = {}) {
  if (!shape.IsTuple()) {
    fn(shape, const_cast<const ShapeIndex&>(index));
    return;
  }
  for (int i = 0; i < shape.element_count_of_tuple(); ++i) {
    index.push_back(i);
    ForEachLeaf(shape.element(i), fn, index);
    index.pop_back();
  }
}

// The whole text must be one shape. InvalidArgument names column and reason.
absl::StatusOr<Shape> ParseShape(absl::string_view text);

// The types and results of a computation seen from outside.
struct ProgramShape {
  std::vector<Shape> parameters;
  std::vector<std::string> parameter_names;
  Shape result;
  // "(p0: f32[2], p1: s32[]) -> f32[2]".
  std::string ToString(bool with_layout = false) const;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_SHAPE_H_
