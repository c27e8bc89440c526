#include "hlo_backend/ir/shape.h"

#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "base/hash.h"

namespace ptxla::hlo {
namespace {

// Rank that `dynamic_` can describe.
constexpr int kMaxRank = 64;

int64_t SaturatingMultiply(int64_t a, int64_t b) {
  int64_t product;
  return __builtin_mul_overflow(a, b, &product) ? INT64_MAX : product;
}

// Text of a layout takes longer than its fields.
void AddLayout(const Layout& layout, Fingerprint* f) {
  f->Add(layout.minor_to_major).Add(layout.memory_space);
  f->Add(static_cast<int64_t>(layout.tiles.size()));
  for (const Tile& tile : layout.tiles) f->Add(tile.dimensions);
  f->Add(layout.element_size_in_bits);
  f->Add(layout.tail_padding_alignment_in_elements);
  f->Add(layout.dynamic_shape_metadata_prefix_bytes);
  f->Add(static_cast<int64_t>(layout.index_type));
  f->Add(static_cast<int64_t>(layout.pointer_type));
  const LayoutTexts& texts = layout.texts();
  for (const std::string* text :
       {&texts.dim_level_types, &texts.split_configs, &texts.physical_shape}) {
    f->Add(static_cast<int64_t>(text->size()));
    if (!text->empty()) f->Add(*text);
  }
}

}  // namespace

Shape Shape::Array(PrimitiveType type, absl::Span<const int64_t> dimensions) {
  Shape shape;
  shape.type_ = type;
  shape.dims_.assign(dimensions.begin(), dimensions.end());
  return shape;
}

Shape Shape::ArrayRowMajor(PrimitiveType type,
                           absl::Span<const int64_t> dimensions) {
  Shape shape = Array(type, dimensions);
  shape.layout_ = Layout::RowMajor(shape.rank());
  return shape;
}

Shape Shape::Tuple(std::vector<Shape> elements) {
  Shape shape;
  shape.type_ = PrimitiveType::kTuple;
  shape.elements_ = std::make_shared<std::vector<Shape>>(std::move(elements));
  return shape;
}

Shape Shape::Token() {
  Shape shape;
  shape.type_ = PrimitiveType::kToken;
  return shape;
}

Shape Shape::Opaque() {
  Shape shape;
  shape.type_ = PrimitiveType::kOpaque;
  return shape;
}

Shape Shape::Buffer(Shape array) {
  Shape shape = Tuple({std::move(array)});
  shape.type_ = PrimitiveType::kBuffer;
  return shape;
}

void Shape::set_dynamic_dim(int i, bool dynamic) {
  CHECK_LT(i, kMaxRank);
  const uint64_t bit = uint64_t{1} << i;
  dynamic_ = dynamic ? dynamic_ | bit : dynamic_ & ~bit;
}

bool Shape::HasDynamicDims() const {
  if (dynamic_ != 0) return true;
  return std::any_of(elements().begin(), elements().end(),
                     [](const Shape& s) { return s.HasDynamicDims(); });
}

bool Shape::HasUnboundedDims() const {
  return std::find(dims_.begin(), dims_.end(), kUnbounded) != dims_.end() ||
         std::any_of(elements().begin(), elements().end(),
                     [](const Shape& s) { return s.HasUnboundedDims(); });
}

Shape* Shape::mutable_element(int i) {
  if (elements_.use_count() > 1) {
    elements_ = std::make_shared<std::vector<Shape>>(*elements_);
  }
  return &(*elements_)[i];
}

Layout* Shape::mutable_layout() {
  if (!layout_) layout_ = Layout::RowMajor(rank());
  return &*layout_;
}

void Shape::clear_layout() {
  layout_.reset();
  for (int i = 0; i < element_count_of_tuple(); ++i) {
    mutable_element(i)->clear_layout();
  }
}

int64_t Shape::ElementCount() const {
  CHECK(!IsTuple()) << "element count of a tuple " << ToString();
  if (IsBuffer()) return element(0).ElementCount();
  if (!IsArray()) return 0;
  int64_t count = 1;
  for (int64_t d : dims_) {
    count = SaturatingMultiply(count, d == kUnbounded ? INT64_MAX : d);
  }
  return count;
}

int64_t Shape::ByteSize() const {
  if (elements_) {
    int64_t sum = 0;
    for (const Shape& s : *elements_) sum += s.ByteSize();
    return sum;
  }
  if (!IsArray()) return 0;
  const int64_t bits = layout_ && layout_->element_size_in_bits > 0
                           ? layout_->element_size_in_bits
                           : BitWidth(type_);
  if (bits % 8 == 0) return SaturatingMultiply(ElementCount(), bits / 8);
  return (SaturatingMultiply(ElementCount(), bits) + 7) / 8;
}

int64_t Shape::LeafCount() const {
  if (!IsTuple()) return 1;
  int64_t count = 0;
  for (const Shape& s : elements()) count += s.LeafCount();
  return count;
}

bool Shape::HasIndex(absl::Span<const int64_t> index) const {
  const Shape* shape = this;
  for (int64_t i : index) {
    if (i < 0 || i >= shape->element_count_of_tuple()) return false;
    shape = &shape->element(static_cast<int>(i));
  }
  return true;
}

const Shape& Shape::At(absl::Span<const int64_t> index) const {
  CHECK(HasIndex(index)) << "no such element in " << ToString();
  const Shape* shape = this;
  for (int64_t i : index) shape = &shape->element(static_cast<int>(i));
  return *shape;
}

bool Shape::operator==(const Shape& o) const {
  if (type_ != o.type_ || dims_ != o.dims_ || dynamic_ != o.dynamic_ ||
      layout_ != o.layout_) {
    return false;
  }
  return elements_ == o.elements_ || elements() == o.elements();
}

bool Shape::SameDimsAndType(const Shape& o) const {
  if (type_ != o.type_ || dims_ != o.dims_) return false;
  if (elements_ == o.elements_) return true;
  return std::equal(elements().begin(), elements().end(), o.elements().begin(),
                    o.elements().end(), [](const Shape& a, const Shape& b) {
                      return a.SameDimsAndType(b);
                    });
}

bool Shape::SameDims(const Shape& o) const {
  if (IsArray() != o.IsArray() || dims_ != o.dims_) return false;
  return std::equal(elements().begin(), elements().end(), o.elements().begin(),
                    o.elements().end(), [](const Shape& a, const Shape& b) {
                      return a.SameDims(b);
                    });
}

std::string Shape::ToString() const {
  std::string out;
  AppendTo(&out, /*with_layout=*/false);
  return out;
}

std::string Shape::ToStringWithLayout() const {
  std::string out;
  AppendTo(&out, /*with_layout=*/true);
  return out;
}

void Shape::AppendTo(std::string* out, bool with_layout) const {
  if (IsTuple()) {
    out->push_back('(');
    for (int i = 0; i < element_count_of_tuple(); ++i) {
      if (i > 0) out->append(", ");
      // XLA numbers every fifth element of a tuple, to help readers.
      if (i > 0 && i % 5 == 0) absl::StrAppend(out, "/*index=", i, "*/");
      element(i).AppendTo(out, with_layout);
    }
    out->push_back(')');
    return;
  }
  if (IsBuffer()) {
    out->append("b(");
    element(0).AppendTo(out, with_layout);
    out->push_back(')');
    return;
  }
  const absl::string_view name = PrimitiveTypeName(type_);
  out->append(name.data(), name.size());
  out->push_back('[');
  for (int i = 0; i < rank(); ++i) {
    if (i > 0) out->push_back(',');
    if (dims_[i] == kUnbounded) {
      out->push_back('?');
      continue;
    }
    if (is_dynamic_dim(i)) out->append("<=");
    absl::StrAppend(out, dims_[i]);
  }
  out->push_back(']');
  // A scalar's empty layout is not printed, unless it says something.
  if (with_layout && layout_ &&
      !(dims_.empty() && *layout_ == Layout::RowMajor(0))) {
    layout_->AppendTo(out);
  }
}

uint64_t Shape::Fingerprint(bool with_layout) const {
  ptxla::Fingerprint f;
  f.Add(static_cast<int64_t>(type_)).Add(dims_);
  f.Add(static_cast<int64_t>(dynamic_));
  if (with_layout && layout_) {
    AddLayout(*layout_, &f);
  }
  for (const Shape& s : elements()) {
    f.Add(static_cast<int64_t>(s.Fingerprint(with_layout)));
  }
  return f.value();
}

std::string ProgramShape::ToString(bool with_layout) const {
  std::string out = "(";
  for (size_t i = 0; i < parameters.size(); ++i) {
    if (i > 0) out.append(", ");
    if (i < parameter_names.size()) {
      absl::StrAppend(&out, parameter_names[i], ": ");
    }
    parameters[i].AppendTo(&out, with_layout);
  }
  out.append(") -> ");
  result.AppendTo(&out, with_layout);
  return out;
}

}  // namespace ptxla::hlo
