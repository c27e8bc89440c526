// Shapes and layouts.
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/reader.h"

namespace ptxla::hlo {

// f32[, token[, b(, (: what begins a shape. A name that is like a type but
// not followed by its bracket is no shape.
bool Reader::AtShape() {
  if (Is('(')) return true;
  if (token().kind != TokenKind::kName || token().percent) return false;
  const char* next = token().begin + token().text.size();
  const char* end = lex_.text().data() + lex_.text().size();
  if (next == end) return false;
  if (*next == '(') return token().text == "b";
  return *next == '[' && PrimitiveTypeFromName(token().text).has_value();
}

bool Reader::ShapeValue(Shape* shape) {
  if (++nesting_ > kMostNested) return Fail(at(), "shapes nest too deep");
  if (!AnyShape(shape)) return false;
  --nesting_;
  return true;
}

bool Reader::AnyShape(Shape* shape) {
  if (!Is('(')) return ArrayShape(shape);
  lex_.Next();
  std::vector<Shape> elements;
  while (!Is(')')) {
    elements.emplace_back();
    if (!ShapeValue(&elements.back())) return false;
    if (!Accept(',')) break;
  }
  if (!Expect(')')) return false;
  *shape = Shape::Tuple(std::move(elements));
  return true;
}

bool Reader::ArrayShape(Shape* shape) {
  if (token().kind != TokenKind::kName) return Expected("a shape");
  const auto type = PrimitiveTypeFromName(token().text);
  if (!type) return Expected("a shape");
  lex_.Next();
  if (*type == PrimitiveType::kBuffer) {
    Shape inner;
    if (!Expect('(') || !ShapeValue(&inner) || !Expect(')')) return false;
    *shape = Shape::Buffer(std::move(inner));
    return true;
  }
  *shape = Shape::Array(*type, {});
  if (!Expect('[')) return false;
  while (!Is(']')) {
    bool dynamic = false;
    if (token().kind == TokenKind::kLessEqual) {
      dynamic = true;
      lex_.Next();
    }
    const char* begin = at();
    int64_t size = Shape::kUnbounded;
    if (Accept('?')) {
      dynamic = true;
    } else {
      if (!Int(&size)) return false;
      if (size < 0) return Fail(begin, "a dimension is negative");
    }
    if (shape->rank() >= 64) return Fail(begin, "more than 64 dimensions");
    shape->add_dim(size);
    if (dynamic) shape->set_dynamic_dim(shape->rank() - 1, true);
    if (!Accept(',')) break;
  }
  if (!Expect(']')) return false;
  if (*type == PrimitiveType::kToken) *shape = Shape::Token();
  if (*type == PrimitiveType::kOpaque) *shape = Shape::Opaque();
  if (!Is('{')) return true;
  // A layout begins with a number, a colon, or nothing; a brace of other
  // content (a computation, a literal) is not ours.
  const Token next = lex_.Peek();
  const bool is_layout = next.kind == TokenKind::kInteger ||
                         (next.kind == TokenKind::kPunct &&
                          (next.text[0] == ':' || next.text[0] == '}'));
  if (!is_layout || !IsArrayType(*type)) return true;
  // "f32[2] {1, 2}" is a shape and a literal: a layout touches its shape.
  if (at()[-1] != ']') return true;
  const char* begin = at();
  Layout layout;
  if (!LayoutValue(&layout)) return false;
  if (static_cast<int>(layout.minor_to_major.size()) != shape->rank()) {
    return Fail(begin,
                absl::StrCat("the layout has ", layout.minor_to_major.size(),
                             " dimensions, the shape has ", shape->rank()));
  }
  uint64_t seen = 0;
  for (int64_t d : layout.minor_to_major) {
    if (d < 0 || d >= shape->rank() || (seen >> d & 1)) {
      return Fail(begin, absl::StrCat("dimension ", d,
                                      " of the layout is out of range or "
                                      "given twice"));
    }
    seen |= uint64_t{1} << d;
  }
  shape->set_layout(std::move(layout));
  return true;
}

bool Reader::LayoutValue(Layout* layout) {
  if (!Expect('{')) return false;
  while (token().kind == TokenKind::kInteger) {
    int64_t d;
    if (!Int(&d)) return false;
    layout->minor_to_major.push_back(d);
    if (!Accept(',')) break;
  }
  if (Accept(':')) {
    while (!Is('}')) {
      if (!LayoutProperty(layout)) return false;
    }
  }
  return Expect('}');
}

bool Reader::TileValue(Layout* layout) {
  while (Is('(')) {
    lex_.Next();
    Tile tile;
    while (!Is(')')) {
      int64_t d = Tile::kCombine;
      const char* begin = at();
      if (!Accept('*') && !Int(&d)) return false;
      if (d < 1 && d != Tile::kCombine) {
        return Fail(begin, "a tile has at least one element");
      }
      tile.dimensions.push_back(d);
      if (!Accept(',')) break;
    }
    if (!Expect(')')) return false;
    layout->tiles.push_back(std::move(tile));
  }
  return true;
}

bool Reader::LayoutProperty(Layout* layout) {
  const char* begin = at();
  auto one = [this](int64_t* value) {
    return Expect('(') && Int(value) && Expect(')');
  };
  auto type = [this](PrimitiveType* value) {
    absl::string_view name;
    if (!Expect('(') || !Name(&name)) return false;
    const auto t = PrimitiveTypeFromName(name);
    if (!t) return Expected("a type");
    *value = *t;
    return Expect(')');
  };
  auto raw = [&](std::string* value) {
    if (!Is('(')) return Expected("'('");
    // Split configs are several groups.
    while (Is('(')) {
      const absl::string_view text = lex_.TakeBraced();
      if (text.empty()) return Fail(begin, "this '(' is not closed");
      *value = std::string(begin, text.data() + text.size() - begin);
    }
    return true;
  };
  if (Accept('#')) return type(&layout->index_type);
  if (Accept('*')) return type(&layout->pointer_type);
  absl::string_view key;
  if (!Name(&key)) return false;
  if (key == "T") {
    if (!Is('(')) return Expected("'('");
    return TileValue(layout);
  }
  if (key == "S") {
    int64_t space;
    if (!one(&space)) return false;
    layout->memory_space = static_cast<int>(space);
    return true;
  }
  if (key == "E") return one(&layout->element_size_in_bits);
  if (key == "L") return one(&layout->tail_padding_alignment_in_elements);
  if (key == "M") return one(&layout->dynamic_shape_metadata_prefix_bytes);
  if (key == "D") return raw(&layout->mutable_texts()->dim_level_types);
  if (key == "SC") return raw(&layout->mutable_texts()->split_configs);
  if (key == "P") return raw(&layout->mutable_texts()->physical_shape);
  return Fail(begin, absl::StrCat("unknown layout property \"", key, "\""));
}

absl::StatusOr<Shape> ParseShape(absl::string_view text) {
  Reader reader(text);
  Shape shape;
  if (!reader.ShapeValue(&shape) || !reader.ExpectEnd()) {
    return reader.status();
  }
  return shape;
}

}  // namespace ptxla::hlo
