#include "hlo_backend/ir/layout.h"

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {

Layout Layout::RowMajor(int rank) {
  Layout layout;
  layout.minor_to_major.resize(rank);
  for (int i = 0; i < rank; ++i) layout.minor_to_major[i] = rank - 1 - i;
  return layout;
}

bool Layout::IsRowMajor() const {
  const int rank = static_cast<int>(minor_to_major.size());
  for (int i = 0; i < rank; ++i) {
    if (minor_to_major[i] != rank - 1 - i) return false;
  }
  return true;
}

bool Layout::operator==(const Layout& o) const {
  return minor_to_major == o.minor_to_major && tiles == o.tiles &&
         element_size_in_bits == o.element_size_in_bits &&
         memory_space == o.memory_space &&
         tail_padding_alignment_in_elements ==
             o.tail_padding_alignment_in_elements &&
         dynamic_shape_metadata_prefix_bytes ==
             o.dynamic_shape_metadata_prefix_bytes &&
         index_type == o.index_type && pointer_type == o.pointer_type &&
         (texts_ == o.texts_ || texts() == o.texts());
}

const LayoutTexts& Layout::texts() const {
  static const LayoutTexts& none = *new LayoutTexts;
  return texts_ ? *texts_ : none;
}

LayoutTexts* Layout::mutable_texts() {
  if (!texts_ || texts_.use_count() > 1) {
    texts_ = std::make_shared<LayoutTexts>(texts());
  }
  return texts_.get();
}

std::string Layout::ToString() const {
  std::string out;
  AppendTo(&out);
  return out;
}

void Layout::AppendTo(std::string* out) const {
  out->push_back('{');
  bool first = true;
  for (int64_t d : minor_to_major) {
    if (!first) out->push_back(',');
    first = false;
    absl::StrAppend(out, d);
  }
  // The first property is preceded by a colon.
  bool colon = false;
  auto property = [&](auto&&... parts) {
    if (!colon) out->push_back(':');
    colon = true;
    absl::StrAppend(out, parts...);
  };
  const LayoutTexts& kept = texts();
  if (!kept.dim_level_types.empty()) property(kept.dim_level_types);
  if (!tiles.empty()) {
    property("T");
    for (const Tile& tile : tiles) {
      out->push_back('(');
      bool first_dim = true;
      for (int64_t d : tile.dimensions) {
        if (!first_dim) out->push_back(',');
        first_dim = false;
        if (d == Tile::kCombine) {
          out->push_back('*');
        } else {
          absl::StrAppend(out, d);
        }
      }
      out->push_back(')');
    }
  }
  if (tail_padding_alignment_in_elements != 1) {
    property("L(", tail_padding_alignment_in_elements, ")");
  }
  if (index_type != PrimitiveType::kInvalid) {
    property("#(", PrimitiveTypeName(index_type), ")");
  }
  if (pointer_type != PrimitiveType::kInvalid) {
    property("*(", PrimitiveTypeName(pointer_type), ")");
  }
  if (element_size_in_bits != 0) property("E(", element_size_in_bits, ")");
  if (memory_space != 0) property("S(", memory_space, ")");
  if (!kept.split_configs.empty()) property(kept.split_configs);
  if (!kept.physical_shape.empty()) property(kept.physical_shape);
  if (dynamic_shape_metadata_prefix_bytes > 0) {
    property("M(", dynamic_shape_metadata_prefix_bytes, ")");
  }
  out->push_back('}');
}

}  // namespace ptxla::hlo
