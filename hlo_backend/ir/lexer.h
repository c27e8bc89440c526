// Tokens of HLO text. Names are taken whole, whatever they mean ("add.1",
// "f32", "source_file", "while"): the parser decides by place, so that an
// instruction may be called like a type or a keyword.
//
//   Lexer lex("%x = f32[2]{0} add(a, b)");
//   lex.token().kind == kName; lex.token().text == "x"; lex.Next();
#ifndef PTXLA_HLO_BACKEND_IR_LEXER_H_
#define PTXLA_HLO_BACKEND_IR_LEXER_H_

#include <cstdint>

#include "absl/strings/string_view.h"

namespace ptxla::hlo {

enum class TokenKind : uint8_t {
  kEnd,
  kError,      // text says what is wrong
  kName,       // text: without '%'; also keywords, types, opcodes
  kInteger,    // digits with an optional sign; value in text
  kDecimal,    // 1.5, 1e-3, -0.5, .5
  kDigits,     // what begins with a digit and is no number: 1_1x0_2, 3x3,
               // 01bf_oi01->01bf
  kString,     // text: between the quotes, still escaped
  kArrow,      // ->
  kLessEqual,  // <=
  kEllipsis,   // ...
  kPunct,      // one of = , : * ? # + ~ [ ] { } ( ) < > ' and others
};

struct Token {
  TokenKind kind = TokenKind::kEnd;
  absl::string_view text;
  const char* begin = nullptr;
  bool percent = false;  // a name that had '%'
};

class Lexer {
 public:
  explicit Lexer(absl::string_view text);

  const Token& token() const { return token_; }
  const Token& Next();
  // The token after the current one.
  Token Peek();

  // Moves to `position` in the text and reads the token there.
  void Seek(const char* position);
  // The current token is '{' (or '('): everything to its matching bracket,
  // both included, strings respected; then moves on. Empty when the text ends
  // first.
  absl::string_view TakeBraced();

  absl::string_view text() const { return text_; }
  // 1-based.
  int LineOf(const char* position) const;
  int ColumnOf(const char* position) const;

 private:
  Token Read(const char** cursor);
  bool SkipSpace(const char** cursor);

  absl::string_view text_;
  const char* cursor_;
  const char* end_;
  Token token_;
  // Lines are counted on from the last question.
  mutable const char* counted_to_;
  mutable int counted_lines_ = 1;
};

// Whether text can have it as a name: "fusion.3", "xla.sdy.sharding".
bool IsName(absl::string_view name);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_IR_LEXER_H_
