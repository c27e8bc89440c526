#include "hlo_backend/stablehlo/locations.h"

#include "absl/strings/match.h"
#include "hlo_backend/stablehlo/scanner.h"

namespace ptxla::hlo::mlir {
namespace {

constexpr int kMaxLocationNesting = 40;

using Aliases = absl::flat_hash_map<std::string, std::string>;

void Read(const std::string& text, const Aliases& aliases, int depth,
          bool name_may_come, Metadata* metadata) {
  if (depth > kMaxLocationNesting) return;
  Scanner s{absl::string_view(text)};
  s.Accept("loc");
  while (s.Accept("(")) {
  }
  if (s.Accept("#")) {
    absl::string_view word;
    if (!s.Word(&word)) return;
    auto it = aliases.find("#" + std::string(word));
    if (it != aliases.end()) {
      Read(it->second, aliases, depth + 1, name_may_come, metadata);
    }
    return;
  }
  // callsite(callee at caller): the callee. fused[a, b]: the first.
  if (s.Accept("callsite") || s.Accept("fused")) {
    absl::string_view ignored;
    if (s.Is("<") && !s.Balanced(&ignored)) return;
    const std::string rest(s.at());
    const size_t begin = rest.find_first_of("([");
    if (begin == std::string::npos) return;
    Read(rest.substr(begin + 1), aliases, depth + 1, name_may_come, metadata);
    return;
  }
  if (s.Peek() != '"') return;
  std::string name;
  if (!s.String(&name)) return;
  if (s.Accept(":")) {  // "file.py":12:3
    int64_t line = 0, column = 0;
    if (!s.Integer(&line)) return;
    if (s.Accept(":")) s.Integer(&column);
    if (!metadata->source_file.empty()) return;
    metadata->source_file = name;
    metadata->source_line = line;
    metadata->source_column = column;
    return;
  }
  if (name_may_come && absl::EndsWith(name, ":") && metadata->op_type.empty()) {
    metadata->op_type = name.substr(0, name.size() - 1);
  } else if (name_may_come) {
    metadata->op_name = name;
    // Deeper names are functions of the call stack.
    name_may_come = false;
  }
  if (s.Is("(")) {
    Read(std::string(s.at()), aliases, depth + 1, name_may_come, metadata);
  }
}

}  // namespace

Metadata ReadLocation(const std::string& text, const Aliases& aliases) {
  Metadata metadata;
  Read(text, aliases, 0, true, &metadata);
  return metadata;
}

}  // namespace ptxla::hlo::mlir
