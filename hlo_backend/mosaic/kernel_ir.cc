#include "hlo_backend/mosaic/kernel_ir.h"

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"

namespace ptxla::mosaic {
namespace {

std::string Values(const std::vector<int>& ids) {
  return absl::StrJoin(ids, ", ", [](std::string* out, int id) {
    absl::StrAppend(out, "%", id);
  });
}

void Append(const Attribute& a, std::string* out) {
  switch (a.kind) {
    case Attribute::Kind::kUnit:
      absl::StrAppend(out, "unit");
      break;
    case Attribute::Kind::kInteger:
      absl::StrAppend(out, a.integer);
      break;
    case Attribute::Kind::kFloat:
      absl::StrAppend(out, "0x", absl::Hex(a.integer));
      break;
    case Attribute::Kind::kString:
      absl::StrAppend(out, "\"", a.text, "\"");
      break;
    case Attribute::Kind::kText:
      absl::StrAppend(out, a.text);
      break;
    case Attribute::Kind::kType:
      absl::StrAppend(out, a.type->ToString());
      break;
    case Attribute::Kind::kArray:
      absl::StrAppend(out, "[");
      for (const Attribute* e : a.elements) {
        Append(*e, out);
        absl::StrAppend(out, e == a.elements.back() ? "" : ", ");
      }
      absl::StrAppend(out, "]");
      break;
    case Attribute::Kind::kDictionary:
      absl::StrAppend(out, "{");
      for (size_t k = 0; k < a.elements.size(); ++k) {
        absl::StrAppend(out, k ? ", " : "", a.names[k], " = ");
        Append(*a.elements[k], out);
      }
      absl::StrAppend(out, "}");
      break;
    case Attribute::Kind::kIntegers:
      absl::StrAppend(out, "[", absl::StrJoin(a.integers, ", "), "]");
      break;
    case Attribute::Kind::kDense:
      absl::StrAppend(out, "dense : ", a.type->ToString());
      break;
    case Attribute::Kind::kLocation:
      absl::StrAppend(out, "loc");
      break;
  }
}

void Append(const Module& m, const Block& block, int indent, std::string* out) {
  const std::string space(indent, ' ');
  if (!block.arguments.empty()) {
    absl::StrAppend(out, space, "(",
                    absl::StrJoin(block.arguments, ", ",
                                  [&](std::string* s, int id) {
                                    absl::StrAppend(s, "%", id, ": ",
                                                    m.values[id]->ToString());
                                  }),
                    ")\n");
  }
  for (const Operation& op : block.operations) {
    absl::StrAppend(out, space, Values(op.results),
                    op.results.empty() ? "" : " = ", op.name,
                    op.operands.empty() ? "" : " ", Values(op.operands));
    for (size_t k = 0; k < op.results.size(); ++k) {
      absl::StrAppend(out, k ? ", " : " : ",
                      m.values[op.results[k]]->ToString());
    }
    if (op.attributes != nullptr && !op.attributes->elements.empty()) {
      absl::StrAppend(out, " ");
      Append(*op.attributes, out);
    }
    absl::StrAppend(out, "\n");
    for (const Region& region : op.regions) {
      for (const Block& b : region.blocks) Append(m, b, indent + 2, out);
    }
  }
}

}  // namespace

int64_t Type::Elements() const {
  int64_t n = 1;
  for (const int64_t d : dims) n *= d == kDynamic ? 1 : d;
  return n;
}

int64_t Type::Bytes() const {
  const int width = element == nullptr ? bits : element->bits;
  return (Elements() * width + 7) / 8;
}

std::string Type::ToString() const {
  switch (kind) {
    case Kind::kScalar:
    case Kind::kOther:
      return name;
    case Kind::kVector:
      return absl::StrCat("vector<", absl::StrJoin(dims, "x"),
                          dims.empty() ? "" : "x", element->ToString(), ">");
    case Kind::kMemRef:
      return absl::StrCat("memref<", absl::StrJoin(dims, "x"),
                          dims.empty() ? "" : "x", element->ToString(),
                          memory_space.empty() ? "" : ", ", memory_space, ">");
    case Kind::kFunction:
      return absl::StrCat("(", inputs.size(), " inputs) -> ", outputs.size(),
                          " results");
  }
  return "?";
}

const Attribute* Attribute::Find(absl::string_view name) const {
  for (size_t k = 0; k < names.size(); ++k) {
    if (names[k] == name) return elements[k];
  }
  return nullptr;
}

std::vector<const Operation*> Module::Functions() const {
  std::vector<const Operation*> functions;
  for (const Operation& module : top.operations) {
    for (const Region& region : module.regions) {
      for (const Block& block : region.blocks) {
        for (const Operation& op : block.operations) {
          if (op.name == "func.func") functions.push_back(&op);
        }
      }
    }
  }
  return functions;
}

const Operation* Module::Function(absl::string_view name) const {
  for (const Operation* f : Functions()) {
    const Attribute* symbol = f->Find("sym_name");
    if (symbol != nullptr && symbol->text == name) return f;
  }
  return nullptr;
}

std::string ToText(const Module& module) {
  std::string out;
  Append(module, module.top, 0, &out);
  return out;
}

}  // namespace ptxla::mosaic
