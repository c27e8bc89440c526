#include "lazy/line_attributes.h"

#include <utility>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/status.h"

namespace ptxla::lazy {
namespace {

using absl::InvalidArgumentError;

absl::StatusOr<DimVector> ParseDims(const std::string& key,
                                    absl::string_view text) {
  if (!absl::ConsumePrefix(&text, "{") || !absl::ConsumeSuffix(&text, "}")) {
    return InvalidArgumentError(absl::StrCat(key, ": expected {...}"));
  }
  DimVector dims;
  for (absl::string_view part : absl::StrSplit(text, ',', absl::SkipEmpty())) {
    int64_t d;
    if (!absl::SimpleAtoi(part, &d)) {
      return InvalidArgumentError(absl::StrCat(key, ": bad number ", part));
    }
    dims.push_back(d);
  }
  return dims;
}

}  // namespace

std::vector<absl::string_view> SplitTopLevel(absl::string_view text) {
  std::vector<absl::string_view> parts;
  int depth = 0;
  bool quoted = false;
  size_t start = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (quoted) {
      if (c == '\\') ++i;
      if (c == '"') quoted = false;
    } else if (c == '"') {
      quoted = true;
    } else if (c == '{' || c == '(' || c == '[') {
      ++depth;
    } else if (c == '}' || c == ')' || c == ']') {
      --depth;
    } else if (c == ',' && depth == 0) {
      parts.push_back(
          absl::StripAsciiWhitespace(text.substr(start, i - start)));
      start = i + 1;
    }
  }
  const auto last = absl::StripAsciiWhitespace(text.substr(start));
  if (!last.empty()) parts.push_back(last);
  return parts;
}

absl::StatusOr<DimVector> LineAttributes::Dims(const std::string& key) const {
  const auto it = values_.find(key);
  if (it == values_.end()) {
    return InvalidArgumentError(absl::StrCat("attribute ", key, " is missing"));
  }
  return ParseDims(key, it->second);
}

absl::StatusOr<std::vector<DimVector>> LineAttributes::Lists(
    const std::string& key) const {
  const auto it = values_.find(key);
  if (it == values_.end()) {
    return InvalidArgumentError(absl::StrCat("attribute ", key, " is missing"));
  }
  absl::string_view text = it->second;
  absl::ConsumePrefix(&text, "{");
  absl::ConsumeSuffix(&text, "}");
  std::vector<DimVector> lists;
  for (absl::string_view part : SplitTopLevel(text)) {
    ASSIGN_OR_RETURN(DimVector dims, ParseDims(key, part));
    lists.push_back(std::move(dims));
  }
  return lists;
}

absl::StatusOr<double> LineAttributes::Number(const std::string& key) const {
  const auto it = values_.find(key);
  double value;
  if (it == values_.end() || !absl::SimpleAtod(it->second, &value)) {
    return InvalidArgumentError(
        absl::StrCat("attribute ", key, " must be a number"));
  }
  return value;
}

absl::StatusOr<int64_t> LineAttributes::Integer(const std::string& key) const {
  const auto it = values_.find(key);
  int64_t value;
  if (it == values_.end() || !absl::SimpleAtoi(it->second, &value)) {
    return InvalidArgumentError(
        absl::StrCat("attribute ", key, " must be an integer"));
  }
  return value;
}

absl::StatusOr<std::string> LineAttributes::Text(const std::string& key) const {
  const auto it = values_.find(key);
  if (it == values_.end()) return std::string();
  absl::string_view quoted = it->second;
  std::string text;
  if (!absl::ConsumePrefix(&quoted, "\"") ||
      !absl::ConsumeSuffix(&quoted, "\"") || !absl::CUnescape(quoted, &text)) {
    return InvalidArgumentError(absl::StrCat(key, ": expected \"...\""));
  }
  return text;
}

}  // namespace ptxla::lazy
