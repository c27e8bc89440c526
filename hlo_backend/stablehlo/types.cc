// Types of MLIR text.
#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/stablehlo/value_parser.h"

namespace ptxla::hlo::mlir {
namespace {

constexpr int kMaxTypeNesting = 64;
constexpr int kMaxRank = 60;

// "i32", "ui8", "bf16", "f8E4M3FN" ... without complex<...>.
PrimitiveType ScalarType(absl::string_view word) {
  if (word == "i1") return PrimitiveType::kPred;
  if (word == "index") return PrimitiveType::kS64;
  std::string name = absl::AsciiStrToLower(word);
  if (name.size() > 1 && absl::ascii_isdigit(name[1]) && name[0] == 'i') {
    name[0] = 's';
  } else if (absl::StartsWith(name, "si") || absl::StartsWith(name, "ui")) {
    name.erase(1, 1);
  }
  const auto type = PrimitiveTypeFromName(name);
  return type && IsArrayType(*type) && *type != PrimitiveType::kPred
             ? *type
             : PrimitiveType::kInvalid;
}

}  // namespace

// "0.5:3" or "0.5".
bool ValueParser::QuantizedScale(Quantized* quantized) {
  Peek();
  const char* begin = at();
  const char* p = begin;
  while (absl::ascii_isalnum(*p) || *p == '.' || *p == '-' || *p == '+') ++p;
  double scale;
  if (!absl::SimpleAtod(absl::string_view(begin, p - begin), &scale) ||
      !(scale > 0)) {
    return FailHere("expected a positive scale");
  }
  Seek(p);
  int64_t zero = 0;
  if (Accept(":") && !Integer(&zero)) return false;
  quantized->scales.push_back(scale);
  quantized->zero_points.push_back(zero);
  return true;
}

// quant.uniform<i8<-127:127>:f32:1, {0.5:3, 0.25}>, behind the "!".
bool ValueParser::QuantizedElement(PrimitiveType* type) {
  const char* begin = at();
  absl::string_view word;
  if (!Word(&word) || word != "quant.uniform" || !Expect("<") || !Word(&word)) {
    return Fail(begin, "expected quant.uniform<...>");
  }
  *type = ScalarType(word);
  if (!IsInteger(*type) || BitWidth(*type) > 32) {
    return Fail(begin, "integers of at most 32 bits are stored");
  }
  auto q = std::make_shared<Quantized>();
  const int bits = BitWidth(*type);
  q->min = IsSigned(*type) ? -(int64_t{1} << (bits - 1)) : 0;
  q->max = (int64_t{1} << (IsSigned(*type) ? bits - 1 : bits)) - 1;
  if (Accept("<") && (!Integer(&q->min) || !Expect(":") || !Integer(&q->max) ||
                      !Expect(">"))) {
    return false;
  }
  if (!Expect(":") || !ElementType(&q->expressed)) return false;
  if (!IsFloat(q->expressed)) return Fail(begin, "floats are expressed");
  if (Accept(":")) {
    if (Is("{")) return FailHere("blocks of several dimensions are not read");
    int64_t axis;
    if (!Integer(&axis)) return false;
    if (axis < 0 || axis >= kMaxRank) return FailHere("no such dimension");
    q->axis = static_cast<int>(axis);
  }
  if (!Expect(",")) return false;
  if (q->axis < 0) {
    if (!QuantizedScale(q.get())) return false;
  } else {
    if (!Expect("{")) return false;
    do {
      if (!QuantizedScale(q.get())) return false;
    } while (Accept(","));
    if (!Expect("}")) return false;
  }
  quantized_ = std::move(q);
  return Expect(">");
}

bool ValueParser::ElementType(PrimitiveType* type) {
  const char* begin = at();
  if (Accept("!")) return QuantizedElement(type);
  absl::string_view word;
  if (!Word(&word)) return FailHere("expected an element type");
  if (word == "complex") {
    if (!Expect("<") || !ElementType(type) || !Expect(">")) return false;
    if (*type == PrimitiveType::kF32) {
      *type = PrimitiveType::kC64;
    } else if (*type == PrimitiveType::kF64) {
      *type = PrimitiveType::kC128;
    } else {
      return Fail(begin, "a complex number is of f32 or f64");
    }
    return true;
  }
  *type = ScalarType(word);
  return *type != PrimitiveType::kInvalid ||
         Fail(begin, absl::StrCat("unknown element type \"", word, "\""));
}

// "8x" or "?x", if it is one; the last word is the element type.
bool ValueParser::Dimension(DimVector* dims) {
  const char* begin = at();
  Peek();
  if (Here() == '?' && Ahead(1) == 'x') {
    Seek(at() + 2);
    dims->push_back(Shape::kUnbounded);
    return true;
  }
  const char* digits = at();
  const char* p = digits;
  while (absl::ascii_isdigit(*p) && p - digits < 20) ++p;
  int64_t size;
  if (p == digits || *p != 'x' ||
      !absl::SimpleAtoi(absl::string_view(digits, p - digits), &size)) {
    Seek(begin);
    return false;
  }
  Seek(p + 1);
  dims->push_back(size);
  return true;
}

// #stablehlo.bounds<?, 5>: upper bounds of the dynamic dimensions. Other
// encodings are skipped.
bool ValueParser::Bounds(Shape* shape) {
  const bool bounds = Is("#stablehlo.bounds") || Is("#mhlo.type_extensions");
  if (!bounds) {
    Attr ignored;
    return ParseAttr(&ignored);
  }
  Seek(at() + 1);
  absl::string_view word;
  if (!Word(&word) || !Expect("<")) return false;
  if (Accept("bounds")) {
    if (!Expect("=") || !Expect("[")) return false;
  }
  for (int d = 0; !Is(">") && !Is("]"); ++d) {
    if (Accept("?")) {
    } else {
      int64_t bound;
      if (!Integer(&bound)) return false;
      if (d >= shape->rank() || bound < 0) {
        return FailHere("more bounds than dimensions");
      }
      shape->set_dim(d, bound);
      shape->set_dynamic_dim(d, true);
    }
    if (!Accept(",")) break;
  }
  Accept("]");
  return Expect(">");
}

bool ValueParser::Tensor(Shape* shape) {
  const char* begin = at();
  if (!Expect("<")) return false;
  DimVector dims;
  if (Accept("*")) return Fail(begin, "tensors without a rank have no shape");
  while (Dimension(&dims)) {
  }
  if (dims.size() > kMaxRank) return Fail(begin, "too many dimensions");
  PrimitiveType type;
  if (!ElementType(&type)) return false;
  *shape = Shape::Array(type, dims);
  if (Accept(",") && !Bounds(shape)) return false;
  for (int d = 0; d < shape->rank(); ++d) {
    if (shape->dim(d) == Shape::kUnbounded) shape->set_dynamic_dim(d, true);
  }
  return Expect(">");
}

bool ValueParser::ParseType(Type* type) {
  if (++depth_ > kMaxTypeNesting) return FailHere("types nest too deep");
  const bool ok = TypeUnlessNested(type);
  --depth_;
  return ok;
}

bool ValueParser::TypeUnlessNested(Type* type) {
  Peek();
  const char* begin = at();
  type->shape = Shape();
  type->quantized = nullptr;
  if (Here() == '!') {
    Seek(at() + 1);
    absl::string_view word;
    if (!Word(&word)) return FailHere("expected a type");
    auto it = types_.find(word);
    if (it != types_.end()) {
      *type = it->second;
      return true;
    }
    if (word == "stablehlo.token" || word == "mhlo.token") {
      type->shape = Shape::Token();
    }
    absl::string_view body;
    if (Here() == '<' && !Balanced(&body)) return false;
    type->text = std::string(begin, at());
    return true;
  }
  if (Here() == '(') {  // a function type
    absl::string_view body;
    if (!Balanced(&body)) return false;
    Type result;
    if (Accept("->") && !ParseType(&result)) return false;
    type->text = std::string(begin, at());
    return true;
  }
  absl::string_view word;
  if (!Word(&word)) return FailHere("expected a type");
  if (word == "tensor") {
    quantized_ = nullptr;
    if (!Tensor(&type->shape)) return false;
    type->quantized = std::move(quantized_);
    const Quantized* q = type->quantized.get();
    if (q != nullptr && q->axis >= 0 &&
        (q->axis >= type->shape.rank() ||
         type->shape.dim(q->axis) != static_cast<int64_t>(q->scales.size()))) {
      return Fail(begin, "one scale for each index of its dimension");
    }
  } else if (word == "tuple") {
    std::vector<Shape> elements;
    if (!Expect("<")) return false;
    while (!Is(">")) {
      const char* at_element = at();
      Type element;
      if (!ParseType(&element)) return false;
      if (element.shape.type() == PrimitiveType::kInvalid) {
        return Fail(at_element, "a tuple holds tensors and tuples");
      }
      elements.push_back(std::move(element.shape));
      if (!Accept(",")) break;
    }
    if (!Expect(">")) return false;
    type->shape = Shape::Tuple(std::move(elements));
  } else if (word == "complex") {
    Seek(begin);
    PrimitiveType element;
    if (!ElementType(&element)) return false;
    type->shape = Shape::Scalar(element);
  } else {
    const PrimitiveType scalar = ScalarType(word);
    if (scalar != PrimitiveType::kInvalid) type->shape = Shape::Scalar(scalar);
    absl::string_view body;
    if (Here() == '<' && !Balanced(&body)) return false;  // memref<...>
  }
  type->text = std::string(begin, at());
  return true;
}

bool ValueParser::TypeSignature(std::vector<Type>* before,
                                std::vector<Type>* after, bool* arrow) {
  auto list = [this](std::vector<Type>* types) {
    if (Accept("(")) {
      while (!Is(")")) {
        types->emplace_back();
        if (!ParseType(&types->back())) return false;
        if (!Accept(",")) break;
      }
      return Expect(")");
    }
    do {
      types->emplace_back();
      if (!ParseType(&types->back())) return false;
    } while (Accept(","));
    return true;
  };
  if (!list(before)) return false;
  *arrow = Accept("->");
  return !*arrow || list(after);
}

}  // namespace ptxla::hlo::mlir
