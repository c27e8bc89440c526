// The words of MLIR text, read character by character: which words there are
// depends on where one stands (`tensor<2x3xf32>`), so that a lexer would not
// know. Internal to the reader.
//
// Functions return false at what they do not find; Fail() keeps the first
// error with its line and column.
#ifndef PTXLA_HLO_BACKEND_STABLEHLO_SCANNER_H_
#define PTXLA_HLO_BACKEND_STABLEHLO_SCANNER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/stablehlo/mlir.h"

namespace ptxla::hlo::mlir {

class Scanner {
 public:
  explicit Scanner(absl::string_view text)
      : text_(text), at_(text.data()), end_(text.data() + text.size()) {}

  // The character after space and comments; 0 at the end.
  char Peek();
  // The character right here, without skipping.
  char Here() const { return at_ < end_ ? *at_ : '\0'; }
  char Ahead(int n) const { return end_ - at_ > n ? at_[n] : '\0'; }
  bool AtEnd() { return Peek() == '\0' && at_ >= end_; }
  const char* at() const { return at_; }
  void Seek(const char* at) { at_ = at; }

  // `text` itself, after space. A word must end there.
  bool Is(absl::string_view text);
  bool Accept(absl::string_view text);
  bool Expect(absl::string_view text);

  bool Word(absl::string_view* word);     // [A-Za-z_][A-Za-z0-9_$.]*
  bool Percent(absl::string_view* name);  // %0, %arg1
  bool SymbolName(std::string* name);     // @main, @"a b"
  bool String(std::string* value);        // unescaped
  bool Integer(int64_t* value);           // -3, 0xFF
  // Everything up to the bracket that closes the one that is next, both
  // included. Strings are skipped whole, "->" closes nothing.
  bool Balanced(absl::string_view* text);

  bool Fail(const char* where, absl::string_view message);
  bool FailHere(absl::string_view message) {
    Peek();
    return Fail(at_, message);
  }
  const absl::Status& status() const { return status_; }
  Position PositionOf(const char* where);

 private:
  absl::string_view text_;
  const char* at_;
  const char* end_;
  absl::Status status_;
  // Lines are counted on from the last question.
  const char* counted_to_ = nullptr;
  int counted_lines_ = 1;
};

}  // namespace ptxla::hlo::mlir

#endif  // PTXLA_HLO_BACKEND_STABLEHLO_SCANNER_H_
