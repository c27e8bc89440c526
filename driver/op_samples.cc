#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "driver/op_coverage.h"
#include "embed/driver_op_samples.h"
#include "hlo_backend/ir/shape_inference.h"

namespace ptxla::driver {
namespace {

using hlo::Opcode;
using hlo::PrimitiveType;

constexpr char kCallees[] = R"(
sum { a = f32[] parameter(0) b = f32[] parameter(1) ROOT r = f32[] add(a, b) }
greater { a = f32[] parameter(0) b = f32[] parameter(1)
  ROOT r = pred[] compare(a, b), direction=GT }
step { a = f32[128] parameter(0) b = f32[128] parameter(1)
  s = f32[128] add(a, b) ROOT r = (f32[128], f32[128]) tuple(s, s) }
twice { a = f32[8,128] parameter(0) ROOT r = f32[8,128] add(a, a) }
below { a = s32[] parameter(0) b = s32[] constant(8)
  ROOT r = pred[] compare(a, b), direction=LT }
next { a = s32[] parameter(0) b = s32[] constant(1)
  ROOT r = s32[] add(a, b) }
)";

struct Line {
  std::string operands, result, attributes, before;
};

// Splits at top-level ',' only: "f32[8,128], t" has two operands.
std::vector<std::string> Operands(absl::string_view text) {
  std::vector<std::string> list;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i <= text.size(); ++i) {
    const char c = i < text.size() ? text[i] : ',';
    if (c == '[' || c == '(') ++depth;
    if (c == ']' || c == ')') --depth;
    if (c != ',' || depth > 0) continue;
    std::string operand(
        absl::StripAsciiWhitespace(text.substr(begin, i - begin)));
    if (!operand.empty()) list.push_back(std::move(operand));
    begin = i + 1;
  }
  return list;
}

std::string Module(absl::string_view opcode, const Line& line) {
  std::string body;
  int parameters = 0;
  for (absl::string_view part : absl::StrSplit(line.before, ';')) {
    part = absl::StripAsciiWhitespace(part);
    if (part.empty()) continue;
    if (absl::StrContains(part, "parameter(")) ++parameters;
    absl::StrAppend(&body, "  ", part, "\n");
  }
  std::vector<std::string> names;
  for (const std::string& operand : Operands(line.operands)) {
    if (!absl::StrContains(operand, "[")) {
      names.push_back(operand);
      continue;
    }
    names.push_back(absl::StrCat("p", parameters));
    absl::StrAppend(&body, "  ", names.back(), " = ", operand, " parameter(",
                    parameters++, ")\n");
  }
  // The number of a parameter and the value of a constant stand in brackets.
  const bool is_leaf = opcode == "parameter" || opcode == "constant";
  absl::StrAppend(&body, "  ROOT r = ", line.result, " ", opcode, "(",
                  is_leaf ? line.attributes : absl::StrJoin(names, ", "), ")",
                  is_leaf || line.attributes.empty() ? "" : ", ",
                  is_leaf ? "" : line.attributes, "\n");
  return absl::StrCat("HloModule sample",
                      absl::StrContains(line.attributes + line.before, "{0,1")
                          ? ", replica_count=8"
                          : "",
                      "\n", kCallees, "ENTRY main {\n", body, "}\n");
}

// Operands of the first type that the opcode takes.
absl::StatusOr<std::string> Elementwise(Opcode opcode) {
  for (PrimitiveType type :
       {PrimitiveType::kF32, PrimitiveType::kS32, PrimitiveType::kC64}) {
    const hlo::Shape shape = hlo::Shape::Array(type, {8, 128});
    const std::vector<const hlo::Shape*> operands(hlo::OpcodeArity(opcode),
                                                  &shape);
    const auto result =
        hlo::InferShape(opcode, operands, hlo::Attributes(), {}, nullptr);
    if (!result.ok()) continue;
    Line line;
    line.operands = absl::StrJoin(
        std::vector<std::string>(operands.size(), shape.ToString()), ", ");
    line.result = result->ToString();
    return Module(hlo::OpcodeName(opcode), line);
  }
  return absl::NotFoundError("no sample");
}

}  // namespace

absl::StatusOr<std::string> OpSampleText(Opcode opcode) {
  for (absl::string_view text : absl::StrSplit(kOpSamples[0].text, '\n')) {
    if (text.empty() || text[0] == '#') continue;
    std::vector<std::string> parts = absl::StrSplit(text, '|');
    for (std::string& part : parts) absl::StripAsciiWhitespace(&part);
    if (parts[0] != hlo::OpcodeName(opcode)) continue;
    parts.resize(5);
    return Module(parts[0], {parts[1], parts[2], parts[3], parts[4]});
  }
  if (hlo::IsElementwise(opcode)) return Elementwise(opcode);
  return absl::NotFoundError(
      absl::StrCat("no sample of ", hlo::OpcodeName(opcode)));
}

}  // namespace ptxla::driver
