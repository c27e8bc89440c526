#include "hlo_backend/proto/text_checks.h"

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/lexer.h"

namespace ptxla::hlo {

std::string ReadableName(const std::string& name) {
  std::string readable = name;
  for (char& c : readable) {
    if (absl::ascii_ispunct(c) && c != '_' && c != '.' && c != '-') c = '_';
  }
  return readable;
}

bool IsInBraces(const std::string& text) {
  if (text.empty() || text[0] != '{') return false;
  Lexer lexer(text);
  return lexer.TakeBraced().size() == text.size();
}

absl::Status CheckWord(const std::string& word, absl::string_view what) {
  if (word.empty() || IsName(word)) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat(what, " \"", absl::CHexEscape(word), "\" is no name"));
}

absl::Status CheckKey(const std::string& key, absl::string_view what) {
  if (!key.empty()) return CheckWord(key, what);
  return absl::InvalidArgumentError(absl::StrCat("a ", what, " has no name"));
}

absl::Status CheckBraced(const std::string& text, absl::string_view what) {
  if (text.empty() || IsInBraces(text)) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(what, " is not in braces"));
}

}  // namespace ptxla::hlo
