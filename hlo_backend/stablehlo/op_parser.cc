// What all operations have: results, operands, types, regions; the generic
// form; the pretty form of those without one of their own.
#include "hlo_backend/stablehlo/op_parser.h"

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ptxla::hlo::mlir {
namespace {

constexpr int kMaxRegionNesting = 100;

// One name for each operation, whatever its dialect was called.
std::string Canonical(absl::string_view name) {
  if (name == "module") return "builtin.module";
  if (name == "func") return "func.func";
  if (name == "call") return "func.call";
  if (name == "return") return "func.return";
  if (absl::StartsWith(name, "mhlo.")) {
    return absl::StrCat("stablehlo.", name.substr(5));
  }
  return std::string(name);
}

}  // namespace

bool OpParser::ParseFile(Op* module) {
  module->name = "builtin.module";
  module->regions.emplace_back();
  while (!AtEnd()) {
    if (Is("#") || Is("!")) {
      if (!ParseAlias()) return false;
      continue;
    }
    if (Is("{-#")) {  // resources behind the module
      absl::string_view body;
      if (!Balanced(&body)) return false;
      continue;
    }
    Op op;
    if (!ParseOp(&op)) return false;
    if (op.name == "builtin.module") {
      *module = std::move(op);
    } else {
      module->regions[0].ops.push_back(std::move(op));
    }
    if (module->regions.empty()) return FailHere("the module has no body");
  }
  return true;
}

bool OpParser::Results(Op* op) {
  if (Peek() != '%') return true;
  do {
    absl::string_view name;
    if (!Percent(&name)) return false;
    int64_t count = 1;
    if (Accept(":") && !Integer(&count)) return false;
    if (count < 0 || count > 1 << 20) return FailHere("too many results");
    op->results.emplace_back(name, static_cast<int>(count));
  } while (Accept(","));
  return Expect("=");
}

bool OpParser::ParseOp(Op* op) {
  if (++depth_ > kMaxRegionNesting) return FailHere("regions nest too deep");
  Peek();
  op->position = PositionOf(at());
  if (!Results(op)) return false;
  bool ok;
  if (Peek() == '"') {
    ok = Generic(op);
  } else {
    absl::string_view word;
    if (!Word(&word)) return FailHere("expected an operation");
    op->name = Canonical(word);
    ok = Pretty(op);
  }
  --depth_;
  return ok && Location(&op->location);
}

bool OpParser::Location(std::string* location) {
  if (!Accept("loc")) return true;
  absl::string_view body;
  if (!Balanced(&body)) return false;
  *location = std::string(body);
  return true;
}

bool OpParser::Operand(Op* op) {
  ValueRef ref;
  if (!Percent(&ref.name)) return FailHere("expected an operand");
  if (Here() == '#') {
    Seek(at() + 1);
    int64_t index;
    if (!Integer(&index)) return false;
    ref.index = static_cast<int>(index);
  }
  op->operands.push_back(ref);
  return true;
}

bool OpParser::OperandList(Op* op, absl::string_view close) {
  while (!Is(close)) {
    if (!Operand(op)) return false;
    if (!Accept(",")) break;
  }
  return Expect(close);
}

bool OpParser::Signature(Op* op) {
  std::vector<Type> before, after;
  bool arrow;
  if (!TypeSignature(&before, &after, &arrow)) return false;
  if (arrow) {
    op->operand_types = std::move(before);
    op->result_types = std::move(after);
    return true;
  }
  // Without an arrow they are the types of the results, or those of the
  // operands of which the last is the result's.
  size_t results = 0;
  for (const auto& [name, count] : op->results) results += count;
  if (before.empty() && results > 0) return FailHere("expected a type");
  if (results == 1) {
    op->result_types = {before.back()};
  } else if (results > 1) {
    op->result_types = std::move(before);
  } else {
    op->operand_types = std::move(before);
  }
  return true;
}

bool OpParser::Generic(Op* op) {
  std::string name;
  if (!String(&name) || !Expect("(")) return false;
  op->name = Canonical(name);
  if (!OperandList(op, ")")) return false;
  if (Accept("[")) return FailHere("branches between blocks are not read");
  if (Accept("<{")) {
    Seek(at() - 1);
    if (!ParseDict(&op->attributes) || !Expect(">")) return false;
  }
  if (Accept("(")) {
    while (!Is(")")) {
      op->regions.emplace_back();
      if (!ParseRegion(&op->regions.back())) return false;
      if (!Accept(",")) break;
    }
    if (!Expect(")")) return false;
  }
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  bool arrow;
  if (!Expect(":") ||
      !TypeSignature(&op->operand_types, &op->result_types, &arrow)) {
    return false;
  }
  return arrow || FailHere("expected \"->\"");
}

bool OpParser::Arguments(std::vector<BlockArgument>* arguments) {
  while (!Is(")")) {
    BlockArgument argument;
    if (Peek() == '%') {
      if (!Percent(&argument.name) || !Expect(":")) return false;
    }
    if (!ParseType(&argument.type)) return false;
    if (Is("{") && !ParseDict(&argument.attributes)) return false;
    if (!Location(&argument.location)) return false;
    arguments->push_back(std::move(argument));
    if (!Accept(",")) break;
  }
  return Expect(")");
}

bool OpParser::ParseRegion(Region* region) {
  if (!Expect("{")) return false;
  if (Peek() == '^') {
    Seek(at() + 1);
    absl::string_view label;
    if (!Word(&label)) return FailHere("expected the name of a block");
    if (Accept("(") && !Arguments(&region->arguments)) return false;
    if (!Expect(":")) return false;
  }
  return RegionBody(region);
}

// The operations up to the brace that closes the region.
bool OpParser::RegionBody(Region* region) {
  while (!Is("}")) {
    if (AtEnd()) return FailHere("expected \"}\"");
    if (Peek() == '^') return FailHere("regions have one block");
    region->ops.emplace_back();
    if (!ParseOp(&region->ops.back())) return false;
  }
  return Expect("}");
}

bool OpParser::Pretty(Op* op) {
  const std::string& name = op->name;
  if (name == "builtin.module") return ModuleOp(op);
  if (name == "func.func") return Function(op);
  if (name == "func.call") return Call(op);
  if (name == "stablehlo.constant" || name == "chlo.constant" ||
      name == "arith.constant") {
    return Constant(op);
  }
  if (name == "stablehlo.while") return While(op);
  if (name == "stablehlo.reduce") return Reduce(op);
  if (name == "stablehlo.custom_call") return CustomCall(op);
  if (name == "stablehlo.convolution") return Convolution(op);
  if (name == "sdy.mesh") return Mesh(op);
  if (name == "sdy.manual_computation") return ManualComputation(op);
  return Ordinary(op);
}

// `key = value`. Dimensions of a dot come as `[1] x [0]`.
bool OpParser::NamedItem(absl::string_view key, Op* op) {
  Attr value;
  if (Peek() == '<') {
    absl::string_view body;
    if (!Balanced(&body)) return false;
    value.kind = Attr::Kind::kDialect;
    value.text = std::string(body);
  } else {
    untyped_ = true;
    const bool ok = ParseAttr(&value);
    untyped_ = false;
    if (!ok) return false;
  }
  if (Accept("x")) {
    Attr rhs;
    if (!ParseAttr(&rhs)) return false;
    op->attributes.emplace_back(absl::StrCat("lhs_", key), std::move(value));
    op->attributes.emplace_back(absl::StrCat("rhs_", key), std::move(rhs));
    return true;
  }
  op->attributes.emplace_back(std::string(key), std::move(value));
  return true;
}

bool OpParser::Item(Op* op) {
  const char c = Peek();
  if (c == '%') {
    if (!Operand(op)) return false;
    return Peek() != '[' || SliceRanges(op);
  }
  if (c == '@') {
    Attr symbol;
    if (!ParseAttr(&symbol)) return false;
    op->attributes.emplace_back("callee", std::move(symbol));
    return true;
  }
  if (c == '"') {
    Attr name;
    if (!ParseAttr(&name)) return false;
    op->attributes.emplace_back("name", std::move(name));
    return true;
  }
  if (c == '<') {
    Attr value;
    absl::string_view body;
    if (!Balanced(&body)) return false;
    value.kind = Attr::Kind::kDialect;
    value.text = std::string(body);
    op->attributes.emplace_back("sharding", std::move(value));
    return true;
  }
  if (c == '(') {
    Accept("(");
    return Items(op, ")") && Expect(")");
  }
  absl::string_view word;
  if (!Word(&word)) return FailHere("expected an operand or an attribute");
  if (Accept("=")) return NamedItem(word, op);
  Attr value;
  value.kind = Attr::Kind::kString;
  value.text = std::string(word);
  op->attributes.emplace_back("word", std::move(value));
  return true;
}

bool OpParser::Items(Op* op, absl::string_view close) {
  while (!Is(close) && !Is("{") && !Is(":") && !Is("loc")) {
    if (AtEnd() || Is("}")) break;
    const char* begin = at();
    if (!Item(op)) return false;
    Accept(",");
    if (at() == begin) return FailHere("unexpected text");
  }
  return true;
}

bool OpParser::Ordinary(Op* op) {
  // An operation without types ends where the line does.
  const bool returns = absl::EndsWith(op->name, ".return");
  if (returns && Peek() != '%') {
    if (Is("{")) return ParseDict(&op->attributes);
    return true;
  }
  if (!Items(op, ":")) return false;
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  if (!Accept(":")) return FailHere("expected \":\" and types");
  return Signature(op);
}

}  // namespace ptxla::hlo::mlir
