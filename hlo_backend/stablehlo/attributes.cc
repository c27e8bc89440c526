// Attributes of MLIR text.
#include <cmath>
#include <cstdlib>
#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/stablehlo/value_parser.h"

namespace ptxla::hlo::mlir {
namespace {

constexpr int kMaxAttributeNesting = 64;

}  // namespace

// -3, 0x7F, 1.5e-3, each with an optional `: type`.
bool ValueParser::Number(Attr* attr) {
  Peek();
  const char* begin = at();
  const char* p = begin;
  if (*p == '-') ++p;
  bool real = false;
  if (p[0] == '0' && p[1] == 'x') {
    p += 2;
    while (absl::ascii_isxdigit(*p)) ++p;
  } else {
    while (absl::ascii_isdigit(*p)) ++p;
    if (*p == '.') {
      real = true;
      ++p;
      while (absl::ascii_isdigit(*p)) ++p;
    }
    if (real && (*p == 'e' || *p == 'E')) {
      ++p;
      if (*p == '-' || *p == '+') ++p;
      while (absl::ascii_isdigit(*p)) ++p;
    }
  }
  if (real) {
    attr->kind = Attr::Kind::kFloat;
    if (!absl::SimpleAtod(absl::string_view(begin, p - begin), &attr->real)) {
      return FailHere("expected a number");
    }
    Seek(p);
  } else {
    attr->kind = Attr::Kind::kInt;
    if (!Integer(&attr->number)) return false;
    attr->real = static_cast<double>(attr->number);
  }
  attr->text = std::string(begin, p);
  if (untyped_ || !Accept(":")) return true;
  if (!ParseType(&attr->type)) return false;
  // The bits of a float in hexadecimal.
  if (attr->kind == Attr::Kind::kInt && IsFloat(attr->type.shape.type())) {
    attr->kind = Attr::Kind::kFloat;
    if (attr->text.size() > 2 && attr->text[1] == 'x') {
      Literal bits(attr->type.shape);
      std::memcpy(bits.mutable_bytes().data(), &attr->number,
                  std::min<size_t>(bits.element_bytes(), 8));
      attr->real = bits.GetDouble(0);
    }
  }
  return true;
}

// array<i64: 1, 2>.
bool ValueParser::TypedArray(Attr* attr) {
  attr->kind = Attr::Kind::kArray;
  if (!Expect("<") || !ParseType(&attr->type)) return false;
  if (Accept(":")) {
    while (!Is(">")) {
      Attr element;
      if (Is("true") || Is("false")) {
        element.kind = Attr::Kind::kBool;
        element.number = Accept("true");
        if (!element.number) Accept("false");
      } else if (!Number(&element)) {
        return false;
      }
      attr->list.push_back(std::move(element));
      if (!Accept(",")) break;
    }
  }
  return Expect(">");
}

bool ValueParser::ParseAttr(Attr* attr) {
  if (++depth_ > kMaxAttributeNesting)
    return FailHere("attributes nest too deep");
  struct Leave {
    int* depth;
    ~Leave() { --*depth; }
  } leave{&depth_};
  const char c = Peek();
  const char* begin = at();
  if (c == '"') {
    attr->kind = Attr::Kind::kString;
    if (!String(&attr->text)) return false;
    return untyped_ || !Accept(":") || ParseType(&attr->type);
  }
  if (c == '@') {
    attr->kind = Attr::Kind::kSymbol;
    if (!SymbolName(&attr->text)) return false;
    std::string nested;  // @module::@function: the last one counts
    while (Accept("::")) {
      if (!SymbolName(&nested)) return FailHere("expected a symbol");
      attr->text = nested;
    }
    return true;
  }
  if (c == '[') {
    attr->kind = Attr::Kind::kArray;
    Accept("[");
    while (!Is("]")) {
      attr->list.emplace_back();
      if (!ParseAttr(&attr->list.back())) return false;
      if (!Accept(",")) break;
    }
    return Expect("]");
  }
  if (c == '{') {
    attr->kind = Attr::Kind::kDict;
    return ParseDict(&attr->dict);
  }
  if (c == '#') {
    Seek(at() + 1);
    absl::string_view name;
    if (!Word(&name)) return FailHere("expected an attribute");
    auto it = attrs_.find(name);
    if (it != attrs_.end()) {
      *attr = it->second;
      return true;
    }
    attr->kind = Attr::Kind::kDialect;
    absl::string_view body;
    if (Here() == '<' && !Balanced(&body)) return false;
    attr->text = std::string(begin, at());
    return true;
  }
  if (c == '-' || absl::ascii_isdigit(c)) return Number(attr);
  if (c == '!' || c == '(') {
    attr->kind = Attr::Kind::kType;
    return ParseType(&attr->type);
  }
  absl::string_view word;
  if (!Word(&word)) return FailHere("expected an attribute");
  if (word == "true" || word == "false") {
    attr->kind = Attr::Kind::kBool;
    attr->number = word == "true";
    return true;
  }
  if (word == "unit") return true;
  if (word == "dense" || word == "dense_resource" || word == "sparse") {
    Seek(begin);
    return Dense(attr);
  }
  if (word == "array") return TypedArray(attr);
  if (word == "loc" || word == "affine_map" || word == "strided" ||
      word == "affine_set" || word == "opaque") {
    attr->kind = Attr::Kind::kDialect;
    absl::string_view body;
    if (!Balanced(&body)) return false;
    attr->text = std::string(begin, at());
    return true;
  }
  Seek(begin);
  attr->kind = Attr::Kind::kType;
  return ParseType(&attr->type);
}

bool ValueParser::ParseDict(AttrDict* dict) {
  const bool untyped = untyped_;
  untyped_ = false;
  const bool ok = Entries(dict);
  untyped_ = untyped;
  return ok;
}

bool ValueParser::Entries(AttrDict* dict) {
  if (!Expect("{")) return false;
  while (!Is("}")) {
    std::string key;
    absl::string_view word;
    if (Peek() == '"') {
      if (!String(&key)) return false;
    } else if (Word(&word)) {
      key = std::string(word);
    } else {
      return FailHere("expected the name of an attribute");
    }
    Attr value;
    if (Accept("=") && !ParseAttr(&value)) return false;
    dict->emplace_back(std::move(key), std::move(value));
    if (!Accept(",")) break;
  }
  return Expect("}");
}

bool ValueParser::ParseFields(AttrDict* dict, absl::string_view close) {
  while (!Is(close)) {
    absl::string_view key;
    if (!Word(&key)) return FailHere("expected the name of a field");
    if (!Expect("=")) return false;
    Attr value;
    Peek();
    if (!ParseAttr(&value)) return false;
    dict->emplace_back(std::string(key), std::move(value));
    if (!Accept(",")) break;
  }
  return Expect(close);
}

bool ValueParser::ParseAlias() {
  const bool is_type = Peek() == '!';
  Seek(at() + 1);
  absl::string_view name;
  if (!Word(&name) || !Expect("=")) return FailHere("expected an alias");
  if (is_type) {
    Type type;
    if (!ParseType(&type)) return false;
    types_[std::string(name)] = std::move(type);
    return true;
  }
  Attr attr;
  if (!ParseAttr(&attr)) return false;
  if (attr.text.rfind("loc", 0) == 0) {
    locations_[absl::StrCat("#", name)] = attr.text;
  }
  attrs_[std::string(name)] = std::move(attr);
  return true;
}

}  // namespace ptxla::hlo::mlir
