#include "hlo_backend/ir/lexer.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "absl/strings/ascii.h"

namespace ptxla::hlo {
namespace {

bool IsDigit(char c) { return c >= '0' && c <= '9'; }

// Characters of names after the first.
constexpr std::array<bool, 256> MakeNameChars() {
  std::array<bool, 256> table{};
  for (int c = 'a'; c <= 'z'; ++c) table[c] = true;
  for (int c = 'A'; c <= 'Z'; ++c) table[c] = true;
  for (int c = '0'; c <= '9'; ++c) table[c] = true;
  table['_'] = table['.'] = table['-'] = true;
  return table;
}
constexpr std::array<bool, 256> kNameChars = MakeNameChars();

bool IsNameChar(char c) { return kNameChars[static_cast<uint8_t>(c)]; }
bool IsNameStart(char c) {
  return IsNameChar(c) && !IsDigit(c) && c != '-' && c != '.';
}

// End of a name; "->" and a final '-' do not belong to it.
const char* NameEnd(const char* p, const char* end) {
  while (p != end && IsNameChar(*p)) {
    if (*p == '-' && (p + 1 == end || p[1] == '>')) break;
    ++p;
  }
  return p;
}

// End of a number with optional sign, fraction and exponent.
const char* NumberEnd(const char* p, const char* end, bool* decimal) {
  *decimal = false;
  if (p != end && (*p == '-' || *p == '+')) ++p;
  while (p != end && IsDigit(*p)) ++p;
  if (p != end && *p == '.' && (p + 1 == end || p[1] != '.')) {
    *decimal = true;
    ++p;
    while (p != end && IsDigit(*p)) ++p;
  }
  if (p != end && (*p == 'e' || *p == 'E')) {
    const char* q = p + 1;
    if (q != end && (*q == '-' || *q == '+')) ++q;
    if (q != end && IsDigit(*q)) {
      *decimal = true;
      while (q != end && IsDigit(*q)) ++q;
      p = q;
    }
  }
  return p;
}

}  // namespace

Lexer::Lexer(absl::string_view text)
    : text_(text),
      cursor_(text.data()),
      end_(text.data() + text.size()),
      counted_to_(text.data()) {
  Next();
}

// False when a comment does not end.
bool Lexer::SkipSpace(const char** cursor) {
  const char* p = *cursor;
  for (;;) {
    while (p != end_ && (*p == ' ' || *p == '\n' || *p == '\t' || *p == '\r')) {
      ++p;
    }
    if (end_ - p >= 2 && p[0] == '/' && p[1] == '/') {
      while (p != end_ && *p != '\n') ++p;
      continue;
    }
    if (end_ - p >= 2 && p[0] == '/' && p[1] == '*') {
      const char* q = p + 2;
      while (q != end_ && !(q[0] == '*' && q + 1 != end_ && q[1] == '/')) ++q;
      if (q == end_) {
        *cursor = p;
        return false;
      }
      p = q + 2;
      continue;
    }
    break;
  }
  *cursor = p;
  return true;
}

Token Lexer::Read(const char** cursor) {
  Token t;
  const bool closed = SkipSpace(cursor);
  const char* p = *cursor;
  t.begin = p;
  auto make = [&](TokenKind kind, const char* text_begin, const char* text_end,
                  const char* next) {
    t.kind = kind;
    t.text = absl::string_view(text_begin, text_end - text_begin);
    *cursor = next;
    return t;
  };
  auto error = [&](const char* message) {
    t.kind = TokenKind::kError;
    t.text = message;
    *cursor = end_;
    return t;
  };
  if (!closed) return error("the comment does not end");
  if (p == end_) return make(TokenKind::kEnd, p, p, p);
  const char c = *p;
  if (c == '%' && p + 1 != end_ && (IsNameStart(p[1]) || IsDigit(p[1]))) {
    t.percent = true;
    const char* e = NameEnd(p + 1, end_);
    return make(TokenKind::kName, p + 1, e, e);
  }
  if (IsNameStart(c)) {
    const char* e = NameEnd(p, end_);
    return make(TokenKind::kName, p, e, e);
  }
  const bool sign = (c == '-' || c == '+') && p + 1 != end_;
  if (IsDigit(c) || (sign && (IsDigit(p[1]) || p[1] == '.')) ||
      (c == '.' && p + 1 != end_ && IsDigit(p[1]))) {
    bool decimal;
    const char* e = NumberEnd(p, end_, &decimal);
    // 1_1x0_2, 3x3, 0b1f: one word; also with negative parts, and the arrow
    // of dimension labels.
    if (e != end_ &&
        (*e == '_' || (IsNameChar(*e) && *e != '.' && *e != '-'))) {
      while (e != end_ &&
             (IsNameChar(*e) || *e == '?' || (*e == '>' && e[-1] == '-'))) {
        ++e;
      }
      return make(TokenKind::kDigits, p, e, e);
    }
    return make(decimal ? TokenKind::kDecimal : TokenKind::kInteger, p, e, e);
  }
  if (sign && c == '-' && p[1] == '>') {
    return make(TokenKind::kArrow, p, p + 2, p + 2);
  }
  if (sign && IsNameStart(p[1])) {
    const char* e = NameEnd(p + 1, end_);
    const absl::string_view word(p + 1, e - p - 1);
    // -inf, -nan; names begin with no sign.
    if (word == "inf" || word == "nan") {
      return make(TokenKind::kName, p, e, e);
    }
  }
  if (c == '"') {
    const char* q = p + 1;
    while (q != end_ && *q != '"') q += (*q == '\\' && q + 1 != end_) ? 2 : 1;
    if (q == end_) return error("the string does not end");
    return make(TokenKind::kString, p + 1, q, q + 1);
  }
  if (c == '<' && p + 1 != end_ && p[1] == '=') {
    return make(TokenKind::kLessEqual, p, p + 2, p + 2);
  }
  if (end_ - p >= 3 && std::memcmp(p, "...", 3) == 0) {
    return make(TokenKind::kEllipsis, p, p + 3, p + 3);
  }
  return make(TokenKind::kPunct, p, p + 1, p + 1);
}

const Token& Lexer::Next() {
  token_ = Read(&cursor_);
  return token_;
}

Token Lexer::Peek() {
  const char* cursor = cursor_;
  return Read(&cursor);
}

void Lexer::Seek(const char* position) {
  cursor_ = position;
  Next();
}

absl::string_view Lexer::TakeBraced() {
  const char* begin = token_.begin;
  int depth = 0;
  for (const char* p = begin; p != end_; ++p) {
    if (*p == '"') {
      ++p;
      while (p != end_ && *p != '"') {
        if (*p == '\\' && p + 1 != end_) ++p;
        ++p;
      }
      if (p == end_) break;
    } else if (*p == '{' || *p == '(' || *p == '[') {
      ++depth;
    } else if (*p == '}' || *p == ')' || *p == ']') {
      if (--depth == 0) {
        cursor_ = p + 1;
        Next();
        return absl::string_view(begin, p + 1 - begin);
      }
    }
  }
  return {};
}

int Lexer::LineOf(const char* position) const {
  if (position < counted_to_) {
    counted_to_ = text_.data();
    counted_lines_ = 1;
  }
  for (const char* p = counted_to_; p < position; ++p) {
    counted_lines_ += *p == '\n';
  }
  counted_to_ = position;
  return counted_lines_;
}

int Lexer::ColumnOf(const char* position) const {
  const char* p = position;
  while (p > text_.data() && p[-1] != '\n') --p;
  return static_cast<int>(position - p) + 1;
}

bool IsName(absl::string_view name) {
  if (name.empty() || !(absl::ascii_isalnum(name[0]) || name[0] == '_')) {
    return false;
  }
  return std::all_of(name.begin(), name.end(), [](char c) {
    return absl::ascii_isalnum(c) || c == '_' || c == '.' || c == '-';
  });
}

}  // namespace ptxla::hlo
