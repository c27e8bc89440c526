#include "hlo_backend/ir/name_uniquer.h"

#include <algorithm>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ptxla::hlo {
namespace {

// "add.12" -> ("add", 12); "add" -> ("add", -1). A number with a leading zero
// is part of the name.
absl::string_view SplitSuffix(absl::string_view name, int64_t* number) {
  *number = -1;
  const size_t dot = name.rfind('.');
  if (dot == absl::string_view::npos || dot == 0) return name;
  const absl::string_view digits = name.substr(dot + 1);
  if (digits.empty() || digits.size() > 17 ||
      (digits[0] == '0' && digits.size() > 1) ||
      !std::all_of(digits.begin(), digits.end(),
                   [](char c) { return c >= '0' && c <= '9'; }) ||
      !absl::SimpleAtoi(digits, number)) {
    return name;
  }
  return name.substr(0, dot);
}

}  // namespace

std::string NameUniquer::Unique(absl::string_view wish) {
  int64_t number;
  const absl::string_view base = SplitSuffix(wish, &number);
  auto [it, inserted] = next_.try_emplace(base, 0);
  int64_t& next = it->second;
  if (number >= next && number >= 0) {
    next = number + 1;
    return std::string(wish);
  }
  if (next == 0) {
    next = 1;
    return std::string(base);
  }
  return absl::StrCat(base, ".", next++);
}

void NameUniquer::Reserve(absl::string_view name) {
  int64_t number;
  const absl::string_view base = SplitSuffix(name, &number);
  int64_t& next = next_.try_emplace(base, 0).first->second;
  next = std::max(next, std::max<int64_t>(number + 1, 1));
}

}  // namespace ptxla::hlo
