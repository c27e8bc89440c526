#include "tests/driver/opcodes/opcode_cases.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_replace.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/check.h"
#include "base/hash.h"
#include "embed/opcode_cases.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/opcode.h"
#include "hlo_backend/ir/shape_inference.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;
using hlo::Opcode;
using hlo::PrimitiveType;
using hlo::Shape;

constexpr int64_t kSizes[] = {1, 7, 127, 129, 1000};

constexpr PrimitiveType kTypes[] = {PrimitiveType::kPred, PrimitiveType::kS8,
                                    PrimitiveType::kU8,   PrimitiveType::kS32,
                                    PrimitiveType::kU32,  PrimitiveType::kBf16,
                                    PrimitiveType::kF32};

// A block of opcode_cases.txt.
struct Template {
  std::string opcode;
  std::vector<std::string> types;
  std::vector<int64_t> sizes{std::begin(kSizes), std::end(kSizes)};
  double low = 0, high = 0;
  std::string callees, entry;
};

// "2*N+3" of N.
int64_t ValueOf(absl::string_view text, int64_t n) {
  int64_t factor = 1, more = 0;
  const std::vector<absl::string_view> sum = absl::StrSplit(text, '+');
  if (sum.size() == 2) CHECK(absl::SimpleAtoi(sum[1], &more));
  absl::string_view product = sum[0];
  CHECK(absl::ConsumeSuffix(&product, "N"));
  if (absl::ConsumeSuffix(&product, "*")) {
    CHECK(absl::SimpleAtoi(product, &factor));
  }
  return factor * n + more;
}

// `text` for one type and size.
std::string Written(absl::string_view text, absl::string_view type, int64_t n,
                    int number) {
  std::string out;
  while (!text.empty()) {
    const size_t open = text.find('<');
    absl::StrAppend(&out, text.substr(0, open));
    if (open == absl::string_view::npos) break;
    if (absl::StartsWith(text.substr(open), "<=")) {  // a dynamic dimension
      absl::StrAppend(&out, "<=");
      text = text.substr(open + 2);
      continue;
    }
    const size_t close = text.find('>', open);
    const absl::string_view word = text.substr(open + 1, close - open - 1);
    if (word == "T") {
      absl::StrAppend(&out, type);
    } else {
      absl::StrAppend(&out, ValueOf(word, n));
    }
    text = text.substr(close + 1);
  }
  return absl::StrReplaceAll(out, {{"#", absl::StrCat(number)}});
}

// Numbers the parameters and adds the root.
std::string Module(absl::string_view type, const std::string& callees,
                   absl::string_view entry, size_t results) {
  std::string text = absl::StrCat("HloModule ops\n", callees);
  for (const auto& [name, opcode] :
       {std::pair("sum", "add"), std::pair("most", "maximum")}) {
    absl::StrAppend(&text, name, " { a = ", type, "[] parameter(0) b = ", type,
                    "[] parameter(1) ROOT c = ", type, "[] ", opcode,
                    "(a, b) }\n");
  }
  absl::StrAppend(&text, "ENTRY main {\n");
  int parameters = 0;
  for (absl::string_view line : absl::StrSplit(entry, '\n')) {
    if (line.empty()) continue;
    absl::StrAppend(&text,
                    absl::StrReplaceAll(
                        line, {{"parameter()",
                                absl::StrCat("parameter(", parameters, ")")}}));
    absl::StrAppend(&text, "\n");
    parameters += absl::StrContains(line, "parameter()");
  }
  // Shapes of the results, for the root's.
  std::vector<std::string> shapes, names;
  for (size_t k = 0; k < results; ++k) {
    names.push_back(absl::StrCat("r", k));
    const std::string begin = absl::StrCat("  r", k, " = ");
    const size_t at = entry.find(begin) + begin.size();
    const bool tuple = entry[at] == '(';
    const size_t end = entry.find(tuple ? ") " : " ", at);
    shapes.emplace_back(entry.substr(at, end - at + tuple));
  }
  absl::StrAppend(&text, "  ROOT all = (", absl::StrJoin(shapes, ", "),
                  ") tuple(", absl::StrJoin(names, ", "), ")\n}\n");
  return text;
}

OpcodeCase Made(const Template& t, const std::string& type) {
  std::string callees, entry;
  for (size_t k = 0; k < t.sizes.size(); ++k) {
    const int number = static_cast<int>(k);
    absl::StrAppend(&callees, Written(t.callees, type, t.sizes[k], number));
    absl::StrAppend(&entry, Written(t.entry, type, t.sizes[k], number));
  }
  return {t.opcode, type, Module(type, callees, entry, t.sizes.size()), t.low,
          t.high};
}

std::vector<Template> Templates() {
  std::vector<Template> all;
  for (absl::string_view line : absl::StrSplit(kOpcodeCases[0].text, '\n')) {
    if (line.empty() || line[0] == '#') continue;
    if (!absl::ConsumePrefix(&line, "= ")) {
      Template& t = all.back();
      absl::StrAppend(line[0] == ' ' ? &t.entry : &t.callees, line, "\n");
      continue;
    }
    std::vector<std::string> parts = absl::StrSplit(line, '|');
    parts.resize(4);
    Template& t = all.emplace_back();
    t.opcode = std::string(absl::StripAsciiWhitespace(parts[0]));
    t.types = absl::StrSplit(parts[1], ' ', absl::SkipEmpty());
    const std::vector<std::string> sizes =
        absl::StrSplit(parts[2], ' ', absl::SkipEmpty());
    if (!sizes.empty()) t.sizes.clear();
    for (const std::string& size : sizes) {
      CHECK(absl::SimpleAtoi(size, &t.sizes.emplace_back()));
    }
    const std::vector<std::string> range =
        absl::StrSplit(parts[3], ' ', absl::SkipEmpty());
    if (range.size() != 2) continue;
    CHECK(absl::SimpleAtod(range[0], &t.low));
    CHECK(absl::SimpleAtod(range[1], &t.high));
  }
  return all;
}

// One that needs neither attributes nor operands of several types.
Template Elementwise(Opcode opcode) {
  Template t;
  t.opcode = std::string(hlo::OpcodeName(opcode));
  std::vector<std::string> names;
  for (int k = 0; k < hlo::OpcodeArity(opcode); ++k) {
    names.push_back(absl::StrCat("p", k, "#"));
    absl::StrAppend(&t.entry, "  ", names.back(),
                    " = <T>[3,<N>] parameter()\n");
  }
  std::string result = "<T>";
  for (PrimitiveType type : kTypes) {
    const Shape shape = Shape::Array(type, {8});
    const std::vector<const Shape*> operands(names.size(), &shape);
    const auto made = hlo::InferShape(opcode, operands, hlo::Attributes());
    if (!made.ok() || hlo::IsComplex(made->type())) continue;
    if (made->type() != type)
      result = std::string(hlo::PrimitiveTypeName(made->type()));
    t.types.emplace_back(hlo::PrimitiveTypeName(type));
  }
  absl::StrAppend(&t.entry, "  r# = ", result, "[3,<N>] ", t.opcode, "(",
                  absl::StrJoin(names, ", "), ")\n");
  return t;
}

// Bits for one element: [0, 1).
double Unit(uint64_t word) { return static_cast<double>(word >> 11) * 0x1p-53; }

double AnyFloat(uint64_t word, bool special) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  constexpr double kSpecial[] = {0,   -0.0,      1,          -1,
                                 0.5, 1.5,       2.5,        -2.5,
                                 100, kInfinity, -kInfinity, std::nan("")};
  if (special && word % 4 == 0) return kSpecial[word / 4 % 12];
  return 6 * Unit(HashCombine(word, 1)) - 3;
}

int64_t AnyInteger(uint64_t word, PrimitiveType type) {
  const int bits = hlo::BitWidth(type);
  const bool is_signed = hlo::ClassOf(type) == hlo::TypeClass::Signed;
  const int64_t most = is_signed   ? (int64_t{1} << (bits - 1)) - 1
                       : bits < 64 ? (int64_t{1} << bits) - 1
                                   : std::numeric_limits<int64_t>::max();
  const int64_t least = is_signed ? -most - 1 : 0;
  const uint64_t other = HashCombine(word, 1);
  switch (word % 4) {
    case 0:  // counts of bits, and a little more
      return static_cast<int64_t>(other % 40);
    case 1:
      return other % 3 == 0 ? least : other % 3 == 1 ? most : least / 3;
    case 2:
      return std::max<int64_t>(least, static_cast<int64_t>(other % 21) - 10);
    default:
      return least + static_cast<int64_t>(Unit(other) *
                                          static_cast<double>(most - least));
  }
}

Literal Make(const OpcodeCase& c, const Shape& shape, uint64_t seed) {
  Literal literal(shape);
  literal.mutable_bytes();
  const bool any = c.low == 0 && c.high == 0;
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    const uint64_t word = HashCombine(seed, static_cast<uint64_t>(i));
    const auto ranged = [&](uint64_t bits) {
      return c.low + Unit(bits) * (c.high - c.low);
    };
    const auto number = [&](uint64_t bits) {
      return any ? AnyFloat(bits, seed % 2 == 0) : ranged(bits);
    };
    if (shape.type() == PrimitiveType::kPred) {
      literal.SetInt(i, static_cast<int64_t>(word & 1));
    } else if (hlo::IsComplex(shape.type())) {
      literal.SetComplex(i, {number(word), number(HashCombine(word, 2))});
    } else if (hlo::IsFloat(shape.type())) {
      literal.SetDouble(i, number(word));
    } else {
      literal.SetInt(i, any ? AnyInteger(word, shape.type())
                            : static_cast<int64_t>(std::floor(ranged(word))));
    }
  }
  return literal;
}

}  // namespace

std::vector<OpcodeCase> OpcodeCases() {
  std::vector<Template> templates = Templates();
  std::set<std::string> written;
  for (const Template& t : templates) written.insert(t.opcode);
  for (int i = 0; i < hlo::kOpcodeCount; ++i) {
    const auto opcode = static_cast<Opcode>(i);
    if (!hlo::IsElementwise(opcode) ||
        written.count(std::string(hlo::OpcodeName(opcode))) > 0) {
      continue;
    }
    templates.push_back(Elementwise(opcode));
  }
  std::stable_sort(
      templates.begin(), templates.end(),
      [](const Template& a, const Template& b) { return a.opcode < b.opcode; });
  std::vector<OpcodeCase> cases;
  for (const Template& t : templates) {
    for (const std::string& type : t.types) cases.push_back(Made(t, type));
  }
  return cases;
}

std::vector<Literal> CaseArguments(const OpcodeCase& c,
                                   const hlo::Module& module, uint64_t seed) {
  std::vector<Literal> arguments;
  for (int k = 0; k < module.entry()->parameter_count(); ++k) {
    arguments.push_back(
        Make(c, module.entry()->parameter(k)->shape(),
             2 * HashCombine(seed, static_cast<uint64_t>(k)) + seed % 2));
  }
  return arguments;
}

}  // namespace ptxla::driver
