// The operations with a pretty form of their own.
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/stablehlo/op_parser.h"

namespace ptxla::hlo::mlir {
namespace {

Attr SymbolAttr(std::string name) {
  Attr attr;
  attr.kind = Attr::Kind::kSymbol;
  attr.text = std::move(name);
  return attr;
}
Attr ListAttr(std::vector<Attr> list) {
  Attr attr;
  attr.kind = Attr::Kind::kArray;
  attr.list = std::move(list);
  return attr;
}
Attr TextAttr(absl::string_view text) {
  Attr attr;
  attr.kind = Attr::Kind::kDialect;
  attr.text = std::string(text);
  return attr;
}

}  // namespace

bool OpParser::ModuleOp(Op* op) {
  std::string name;
  if (Peek() == '@') {
    if (!SymbolName(&name)) return false;
    op->attributes.emplace_back("sym_name", SymbolAttr(name));
  }
  if (Accept("attributes") && !ParseDict(&op->attributes)) return false;
  op->regions.emplace_back();
  return ParseRegion(&op->regions.back());
}

bool OpParser::Function(Op* op) {
  absl::string_view visibility;
  if (Word(&visibility)) {
    op->attributes.emplace_back("sym_visibility", TextAttr(visibility));
  }
  std::string name;
  if (!SymbolName(&name)) return FailHere("expected the name of a function");
  op->attributes.emplace_back("sym_name", SymbolAttr(name));
  Region region;
  if (!Expect("(") || !Arguments(&region.arguments)) return false;
  if (Accept("->")) {
    if (Accept("(")) {
      std::vector<BlockArgument> results;
      if (!Arguments(&results)) return false;
      for (BlockArgument& r : results) {
        op->result_types.push_back(std::move(r.type));
        op->result_attributes.push_back(std::move(r.attributes));
      }
    } else {
      op->result_types.emplace_back();
      op->result_attributes.emplace_back();
      if (!ParseType(&op->result_types.back())) return false;
    }
  }
  if (Accept("attributes") && !ParseDict(&op->attributes)) return false;
  if (!Is("{")) return true;  // a declaration
  if (!ParseRegion(&region)) return false;
  op->regions.push_back(std::move(region));
  return true;
}

bool OpParser::Call(Op* op) {
  std::string callee;
  if (!SymbolName(&callee)) return FailHere("expected a function");
  op->attributes.emplace_back("callee", SymbolAttr(callee));
  if (!Expect("(") || !OperandList(op, ")")) return false;
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  return Expect(":") && Signature(op);
}

bool OpParser::Constant(Op* op) {
  Accept("()");  // once there were operands to name
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  Attr value;
  if (!ParseAttr(&value)) return false;
  op->result_types.push_back(value.type);
  op->attributes.emplace_back("value", std::move(value));
  if (!Accept(":")) return true;
  op->result_types.clear();
  return Signature(op);
}

bool OpParser::While(Op* op) {
  std::vector<BlockArgument> arguments;
  if (!Expect("(")) return false;
  while (!Is(")")) {
    BlockArgument argument;
    if (!Percent(&argument.name)) return FailHere("expected a name");
    if (!Expect("=") || !Operand(op)) return false;
    arguments.push_back(std::move(argument));
    if (!Accept(",")) break;
  }
  if (!Expect(")")) return false;
  if (Accept(":")) {
    const char* begin = at();
    bool arrow;
    if (!TypeSignature(&op->result_types, &op->operand_types, &arrow)) {
      return false;
    }
    op->operand_types = op->result_types;
    if (op->result_types.size() != arguments.size()) {
      return Fail(begin, "as many types as values");
    }
  }
  for (size_t i = 0; i < arguments.size() && i < op->result_types.size(); ++i) {
    arguments[i].type = op->result_types[i];
  }
  if (Accept("attributes") && !ParseDict(&op->attributes)) return false;
  for (const char* word : {"cond", "do"}) {
    op->regions.emplace_back();
    op->regions.back().arguments = arguments;
    if (!Expect(word) || !ParseRegion(&op->regions.back())) return false;
  }
  return true;
}

// `applies stablehlo.add`: the region that does this to two scalars.
bool OpParser::Applied(absl::string_view name, Op* reduce) {
  Region region;
  Op body, end;
  const size_t count = reduce->operands.size() / 2;
  if (count != 1 || reduce->operand_types.size() != 2) {
    return FailHere("a reduction of several values has a reducer");
  }
  const Type scalar = reduce->operand_types[1];
  region.arguments.push_back({"%applied_lhs", scalar, {}, ""});
  region.arguments.push_back({"%applied_rhs", scalar, {}, ""});
  body.name = absl::StartsWith(name, "mhlo.")
                  ? absl::StrCat("stablehlo.", name.substr(5))
                  : std::string(name);
  body.position = end.position = reduce->position;
  body.operands = {{"%applied_lhs", 0}, {"%applied_rhs", 0}};
  body.results = {{"%applied_result", 1}};
  body.result_types = {scalar};
  end.name = "stablehlo.return";
  end.operands = {{"%applied_result", 0}};
  region.ops.push_back(std::move(body));
  region.ops.push_back(std::move(end));
  reduce->regions.push_back(std::move(region));
  return true;
}

// reduce(%a init: %b), (%c init: %d) across dimensions = [0] : types
//  reducer(%x: t, %y: t) (%z: t, %w: t) { ... }
bool OpParser::Reduce(Op* op) {
  Op inits;
  do {
    if (!Expect("(") || !Operand(op) || !Expect("init:") || !Operand(&inits) ||
        !Expect(")")) {
      return false;
    }
  } while (Accept(","));
  op->operands.insert(op->operands.end(), inits.operands.begin(),
                      inits.operands.end());
  absl::string_view applied;
  if (Accept("applies") && !Word(&applied)) {
    return FailHere("expected an operation");
  }
  Attr dimensions;
  if (!Expect("across") || !Expect("dimensions") || !Expect("=") ||
      !ParseAttr(&dimensions)) {
    return false;
  }
  op->attributes.emplace_back("dimensions", std::move(dimensions));
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  if (!Expect(":") || !Signature(op)) return false;
  if (!applied.empty()) return Applied(applied, op);
  if (!Location(&op->location) || !Expect("reducer")) return false;
  Region region;
  std::vector<BlockArgument> second;
  while (Accept("(")) {
    std::vector<BlockArgument> pair;
    if (!Arguments(&pair)) return false;
    if (pair.size() != 2) return FailHere("a reducer takes pairs");
    region.arguments.push_back(std::move(pair[0]));
    second.push_back(std::move(pair[1]));
  }
  for (BlockArgument& argument : second) {
    region.arguments.push_back(std::move(argument));
  }
  if (!ParseRegion(&region)) return false;
  op->regions.push_back(std::move(region));
  return true;
}

bool OpParser::CustomCall(Op* op) {
  std::string target;
  if (!SymbolName(&target)) return FailHere("expected the target");
  Attr name;
  name.kind = Attr::Kind::kString;
  name.text = target;
  op->attributes.emplace_back("call_target_name", std::move(name));
  if (!Expect("(") || !OperandList(op, ")")) return false;
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  return Expect(":") && Signature(op);
}

// convolution(%a, %b) dim_numbers = [b, 0, f]x[0, i, o]->[b, 0, f],
//   window = {stride = [1], ...} {attributes} : types
bool OpParser::Convolution(Op* op) {
  if (!Expect("(") || !OperandList(op, ")")) return false;
  if (!Expect("dim_numbers") || !Expect("=")) return false;
  std::string labels;
  for (const char* between : {"x", "->", ""}) {
    absl::string_view list;
    if (!Balanced(&list)) return false;
    absl::StrAppend(&labels, list, between);
    if (*between != '\0' && !Expect(between)) return false;
  }
  op->attributes.emplace_back("dimension_numbers", TextAttr(labels));
  Accept(",");
  if (Accept("window")) {
    AttrDict window;
    if (!Expect("=") || !ParseDict(&window)) return false;
    for (auto& [key, value] : window) {
      const std::string name = key == "stride"       ? "window_strides"
                               : key == "pad"        ? "padding"
                               : key == "lhs_dilate" ? "lhs_dilation"
                               : key == "rhs_dilate" ? "rhs_dilation"
                               : key == "reverse"    ? "window_reversal"
                                                     : key;
      op->attributes.emplace_back(name, std::move(value));
    }
  }
  Accept(",");
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  return Expect(":") && Signature(op);
}

// Behind the operand of a slice, [0:4, 2:8:2]; of get_tuple_element, [1].
bool OpParser::SliceRanges(Op* op) {
  std::vector<Attr> starts, limits, strides;
  if (!Expect("[")) return false;
  const bool element = op->name == "stablehlo.get_tuple_element";
  while (!Is("]")) {
    int64_t start, limit, stride = 1;
    if (!Integer(&start)) return false;
    starts.push_back(Attr::Int(start));
    if (!element) {
      if (!Expect(":") || !Integer(&limit)) return false;
      if (Accept(":") && !Integer(&stride)) return false;
      limits.push_back(Attr::Int(limit));
      strides.push_back(Attr::Int(stride));
    }
    if (!Accept(",")) break;
  }
  if (!Expect("]")) return false;
  if (element) {
    if (starts.size() != 1) return FailHere("expected one index");
    op->attributes.emplace_back("index", std::move(starts[0]));
    return true;
  }
  op->attributes.emplace_back("start_indices", ListAttr(std::move(starts)));
  op->attributes.emplace_back("limit_indices", ListAttr(std::move(limits)));
  op->attributes.emplace_back("strides", ListAttr(std::move(strides)));
  return true;
}

// sdy.mesh @mesh = <["x"=2, "y"=4]> {stablehlo.mesh = ...}.
bool OpParser::Mesh(Op* op) {
  std::string name;
  absl::string_view body;
  if (!SymbolName(&name)) return FailHere("expected the name of a mesh");
  op->attributes.emplace_back("sym_name", SymbolAttr(name));
  if (!Expect("=") || !Balanced(&body)) return false;
  op->attributes.emplace_back("mesh", TextAttr(body));
  return !Is("{") || ParseDict(&op->attributes);
}

// sdy.manual_computation(%0) in_shardings=[...] out_shardings=[...]
//   manual_axes={"a"} (%arg1: t) { ... } : types
bool OpParser::ManualComputation(Op* op) {
  if (!Expect("(") || !OperandList(op, ")")) return false;
  for (const char* key : {"in_shardings", "out_shardings", "manual_axes"}) {
    absl::string_view body;
    if (!Expect(key) || !Expect("=") || !Balanced(&body)) return false;
    op->attributes.emplace_back(key, TextAttr(body));
  }
  op->regions.emplace_back();
  if (!Expect("(") || !Arguments(&op->regions.back().arguments) ||
      !ParseRegion(&op->regions.back())) {
    return false;
  }
  if (Is("{") && !ParseDict(&op->attributes)) return false;
  return Expect(":") && Signature(op);
}

}  // namespace ptxla::hlo::mlir
