#include "tests/architecture/declared_names.h"

#include <cctype>
#include <utility>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/strip.h"

namespace ptxla::testing {
namespace {

// Of a function: the capitalized word before the first parenthesis, unless it
// is a member's.
std::string FunctionName(absl::string_view line) {
  const size_t end = line.find('(');
  if (end == absl::string_view::npos) return "";
  size_t begin = end;
  while (begin > 0 && IsOfWord(line[begin - 1])) --begin;
  const bool is_member = begin > 0 && line[begin - 1] == ':';
  const bool is_name = begin < end && begin > 0 && std::isupper(line[begin]);
  return is_name && !is_member ? std::string(line.substr(begin, end - begin))
                               : "";
}

// The word that introduces a type.
bool ConsumeType(absl::string_view* line) {
  for (absl::string_view kind :
       {"class ", "struct ", "enum class ", "enum ", "union "}) {
    if (absl::ConsumePrefix(line, kind)) return true;
  }
  return false;
}

// The name that a line declares which begins at its left edge, as clang-format
// puts what is not in a class or function; "" if none.
std::string NameOf(absl::string_view line) {
  if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) {
    return "";
  }
  absl::ConsumePrefix(&line, "inline ");
  if (ConsumeType(&line)) return FirstWord(line);
  if (absl::ConsumePrefix(&line, "using ")) {
    return absl::StrContains(line, " = ") ? FirstWord(line) : "";
  }
  if (absl::StartsWith(line, "template") || absl::StartsWith(line, "TEST")) {
    return "";
  }
  if (absl::StartsWith(line, "const")) {
    const size_t at = line.find(" k");
    if (at != absl::string_view::npos) return FirstWord(line.substr(at + 1));
  }
  return FunctionName(line);
}

}  // namespace

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string FirstWord(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsOfWord(text[n])) ++n;
  return std::string(text.substr(0, n));
}

std::vector<Declared> DeclaredIn(const SourceFile& file) {
  std::vector<Declared> all;
  std::vector<std::string> open;  // namespaces; "" is an anonymous one
  for (const std::string& text : file.lines) {
    absl::string_view line = text;
    if (absl::StartsWith(line, "}  // namespace")) {
      if (!open.empty()) open.pop_back();
    } else if (absl::ConsumePrefix(&line, "namespace ") &&
               absl::ConsumeSuffix(&line, "{")) {
      open.emplace_back(absl::StripSuffix(line, " "));
    } else if (std::string name = NameOf(text); !name.empty()) {
      Declared d;
      for (const std::string& space : open) {
        d.anonymous |= space.empty();
        absl::StrAppend(&d.space, space, space.empty() ? "" : "::");
      }
      d.name = std::move(name);
      // Neither a specialization nor what a class has inside.
      d.defines_type = ConsumeType(&line) &&
                       absl::ConsumePrefix(&line, absl::StrCat(d.name, " ")) &&
                       absl::StrContains(line, "{");
      all.push_back(std::move(d));
    }
  }
  return all;
}

}  // namespace ptxla::testing
