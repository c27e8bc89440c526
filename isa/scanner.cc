#include "isa/scanner.h"

#include <limits>

#include "absl/strings/ascii.h"
#include "absl/strings/escaping.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"

namespace ptxla::isa {
namespace {

bool IsWordStart(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool IsWordPart(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '.';
}

}  // namespace

Scanner::Scanner(absl::string_view text, absl::string_view name)
    : text_(text), name_(name) {}

void Scanner::SkipSpace() {
  while (at_ < text_.size()) {
    if (text_[at_] == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else if (absl::ascii_isspace(text_[at_])) {
      ++at_;
    } else {
      return;
    }
  }
}

bool Scanner::AtEnd() {
  SkipSpace();
  return at_ == text_.size();
}

bool Scanner::NextIs(char punctuation) {
  return !AtEnd() && text_[at_] == punctuation;
}

bool Scanner::Take(char punctuation) {
  if (!NextIs(punctuation)) return false;
  ++at_;
  return true;
}

absl::Status Scanner::Expect(char punctuation) {
  if (Take(punctuation)) return absl::OkStatus();
  return Error(absl::StrCat("expected '", std::string(1, punctuation), "'"));
}

absl::string_view Scanner::PeekWord() {
  if (AtEnd() || !IsWordStart(text_[at_])) return "";
  size_t end = at_ + 1;
  while (end < text_.size() && IsWordPart(text_[end])) ++end;
  return text_.substr(at_, end - at_);
}

absl::StatusOr<absl::string_view> Scanner::Word(absl::string_view what) {
  const absl::string_view word = PeekWord();
  if (word.empty()) return Error(absl::StrCat("expected ", what));
  at_ += word.size();
  return word;
}

bool Scanner::TakeWord(absl::string_view word) {
  if (PeekWord() != word) return false;
  at_ += word.size();
  return true;
}

absl::StatusOr<absl::string_view> Scanner::DashedWord(absl::string_view what) {
  const absl::string_view word = PeekWord();
  if (word.empty()) return Error(absl::StrCat("expected ", what));
  size_t end = at_ + word.size();
  while (end < text_.size() && (IsWordPart(text_[end]) || text_[end] == '-')) {
    ++end;
  }
  const absl::string_view result = text_.substr(at_, end - at_);
  at_ = end;
  return result;
}

absl::StatusOr<uint64_t> Scanner::Unsigned() {
  SkipSpace();
  size_t end = at_;
  while (end < text_.size() && absl::ascii_isalnum(text_[end])) ++end;
  const absl::string_view digits = text_.substr(at_, end - at_);
  uint64_t value = 0;
  const bool hex = digits.size() > 2 && digits[0] == '0' && digits[1] == 'x';
  if (hex ? !absl::SimpleHexAtoi(digits, &value)
          : !absl::SimpleAtoi(digits, &value)) {
    return Error("expected a number");
  }
  at_ = end;
  return value;
}

absl::StatusOr<int64_t> Scanner::Integer() {
  return Integer(std::numeric_limits<int64_t>::min(),
                 std::numeric_limits<int64_t>::max());
}

absl::StatusOr<int64_t> Scanner::Integer(int64_t lo, int64_t hi) {
  SkipSpace();
  const size_t begin = at_;
  const bool negative = Take('-');
  if (!negative) Take('+');
  ASSIGN_OR_RETURN(uint64_t magnitude, Unsigned());
  constexpr uint64_t kMax = std::numeric_limits<int64_t>::max();
  const bool fits = magnitude <= kMax + (negative ? 1 : 0);
  const int64_t value =
      static_cast<int64_t>(negative ? 0 - magnitude : magnitude);
  if (!fits || value < lo || value > hi) {
    at_ = begin;
    return Error(absl::StrCat("number out of range [", lo, ", ", hi, "]"));
  }
  return value;
}

absl::StatusOr<std::string> Scanner::Quoted() {
  if (!NextIs('"')) return Error("expected a quoted string");
  size_t end = at_ + 1;
  while (end < text_.size() && text_[end] != '"') {
    end += text_[end] == '\\' ? 2 : 1;
  }
  if (end >= text_.size()) return Error("the string does not end");
  std::string value;
  std::string reason;
  if (!absl::CUnescape(text_.substr(at_ + 1, end - at_ - 1), &value, &reason)) {
    return Error(reason);
  }
  at_ = end + 1;
  return value;
}

absl::Status Scanner::Enter() {
  if (++depth_ <= kMaxDepth) return absl::OkStatus();
  return Error(absl::StrCat("more than ", kMaxDepth, " levels of braces"));
}

absl::Status Scanner::Error(absl::string_view message) {
  SkipSpace();
  int line = 1;
  int column = 1;
  for (size_t i = 0; i < at_ && i < text_.size(); ++i) {
    column = text_[i] == '\n' ? 1 : column + 1;
    line += text_[i] == '\n' ? 1 : 0;
  }
  return absl::InvalidArgumentError(
      absl::StrCat(name_, ":", line, ":", column, ": ", message));
}

}  // namespace ptxla::isa
