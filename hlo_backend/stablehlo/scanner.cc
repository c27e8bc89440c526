#include "hlo_backend/stablehlo/scanner.h"

#include <algorithm>
#include <cstring>

#include "absl/strings/ascii.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"

namespace ptxla::hlo::mlir {
namespace {

bool StartsWord(char c) { return absl::ascii_isalpha(c) || c == '_'; }
bool InWord(char c) {
  return absl::ascii_isalnum(c) || c == '_' || c == '$' || c == '.';
}
int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  c = absl::ascii_tolower(c);
  return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

}  // namespace

char Scanner::Peek() {
  while (at_ < end_) {
    if (absl::ascii_isspace(*at_)) {
      ++at_;
    } else if (*at_ == '/' && Ahead(1) == '/') {
      at_ = std::find(at_, end_, '\n');
    } else {
      return *at_;
    }
  }
  return '\0';
}

bool Scanner::Is(absl::string_view text) {
  Peek();
  if (static_cast<size_t>(end_ - at_) < text.size() ||
      absl::string_view(at_, text.size()) != text) {
    return false;
  }
  return !InWord(text.back()) || at_ + text.size() == end_ ||
         !InWord(at_[text.size()]);
}

bool Scanner::Accept(absl::string_view text) {
  if (!Is(text)) return false;
  at_ += text.size();
  return true;
}

bool Scanner::Expect(absl::string_view text) {
  if (Accept(text)) return true;
  return FailHere(absl::StrCat("expected \"", text, "\""));
}

bool Scanner::Word(absl::string_view* word) {
  if (!StartsWord(Peek())) return false;
  const char* begin = at_;
  while (at_ < end_ && InWord(*at_)) ++at_;
  *word = absl::string_view(begin, at_ - begin);
  return true;
}

bool Scanner::Percent(absl::string_view* name) {
  if (Peek() != '%') return false;
  const char* begin = at_++;
  while (at_ < end_ && (InWord(*at_) || *at_ == '-')) ++at_;
  *name = absl::string_view(begin, at_ - begin);
  return name->size() > 1 || Fail(begin, "expected the name of a value");
}

bool Scanner::SymbolName(std::string* name) {
  if (Peek() != '@') return false;
  ++at_;
  if (Here() == '"') return String(name);
  const char* begin = at_;
  while (at_ < end_ && (InWord(*at_) || *at_ == '-')) ++at_;
  *name = std::string(begin, at_);
  return !name->empty() || Fail(begin, "expected the name of a symbol");
}

bool Scanner::String(std::string* value) {
  if (Peek() != '"') return FailHere("expected a string");
  const char* begin = at_++;
  value->clear();
  while (at_ < end_ && *at_ != '"') {
    if (*at_ == '\n') break;
    if (*at_ != '\\') {
      value->push_back(*at_++);
      continue;
    }
    const char c = Ahead(1);
    const int high = HexDigit(c), low = HexDigit(Ahead(2));
    if (high >= 0 && low >= 0) {
      value->push_back(static_cast<char>(high * 16 + low));
      at_ += 3;
      continue;
    }
    if (c == 'n') {
      value->push_back('\n');
    } else if (c == 't') {
      value->push_back('\t');
    } else if (c == '"' || c == '\\') {
      value->push_back(c);
    } else {
      return Fail(at_, "unknown escape in a string");
    }
    at_ += 2;
  }
  if (Here() != '"') return Fail(begin, "the string does not end");
  ++at_;
  return true;
}

bool Scanner::Integer(int64_t* value) {
  Peek();
  const char* begin = at_;
  const bool negative = Here() == '-';
  if (negative) ++at_;
  uint64_t number = 0;
  if (Here() == '0' && Ahead(1) == 'x' && HexDigit(Ahead(2)) >= 0) {
    at_ += 2;
    const char* digits = at_;
    while (HexDigit(Here()) >= 0) number = number * 16 + HexDigit(*at_++);
    if (at_ - digits > 16) return Fail(begin, "the number is too large");
  } else {
    const char* digits = at_;
    while (absl::ascii_isdigit(Here())) ++at_;
    if (!absl::SimpleAtoi(absl::string_view(digits, at_ - digits), &number)) {
      at_ = begin;
      return FailHere("expected an integer");
    }
  }
  *value = static_cast<int64_t>(negative ? 0 - number : number);
  return true;
}

bool Scanner::Balanced(absl::string_view* text) {
  Peek();
  const char* begin = at_;
  std::string open;
  do {
    const char c = Here();
    if (at_ >= end_) return Fail(begin, "this bracket is not closed");
    if (c == '"') {
      std::string skipped;
      if (!String(&skipped)) return false;
      continue;
    }
    if (c == '-' && Ahead(1) == '>') {
      at_ += 2;
      continue;
    }
    if (c == '<' || c == '(' || c == '[' || c == '{') open.push_back(c);
    if (c == '>' || c == ')' || c == ']' || c == '}') {
      if (open.empty()) return Fail(at_, "nothing is open here");
      const char* kinds = "<>()[]{}";
      const char wanted = std::strchr(kinds, open.back())[1];
      if (c != wanted) {
        return Fail(at_,
                    absl::StrCat("expected \"", std::string(1, wanted), "\""));
      }
      open.pop_back();
    }
    ++at_;
  } while (!open.empty());
  *text = absl::string_view(begin, at_ - begin);
  return true;
}

Position Scanner::PositionOf(const char* where) {
  if (counted_to_ == nullptr || where < counted_to_) {
    counted_to_ = text_.data();
    counted_lines_ = 1;
  }
  counted_lines_ += static_cast<int>(std::count(counted_to_, where, '\n'));
  counted_to_ = where;
  const char* line = where;
  while (line > text_.data() && line[-1] != '\n') --line;
  return {counted_lines_, static_cast<int>(where - line) + 1};
}

bool Scanner::Fail(const char* where, absl::string_view message) {
  if (status_.ok()) {
    const Position p = PositionOf(where);
    status_ = absl::InvalidArgumentError(
        absl::StrCat(p.line, ":", p.column, ": ", message));
  }
  return false;
}

}  // namespace ptxla::hlo::mlir
