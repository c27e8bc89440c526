// Words, numbers, strings and punctuation of the text form, with the place of
// each. '#' starts a comment that ends with the line.
#ifndef PTXLA_ISA_SCANNER_H_
#define PTXLA_ISA_SCANNER_H_

#include <cstdint>
#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla::isa {

class Scanner {
 public:
  // `name` is what error messages call the text.
  Scanner(absl::string_view text, absl::string_view name);

  bool AtEnd();
  // Takes `punctuation` (one character) if it is next.
  bool Take(char punctuation);
  bool NextIs(char punctuation);
  absl::Status Expect(char punctuation);
  // [A-Za-z_][A-Za-z0-9_.]*, without taking it; "" if there is none.
  absl::string_view PeekWord();
  absl::StatusOr<absl::string_view> Word(absl::string_view what);
  // Takes `word` if it is the next word.
  bool TakeWord(absl::string_view word);
  // Words with '-' inside: "all-reduce".
  absl::StatusOr<absl::string_view> DashedWord(absl::string_view what);
  // Decimal with optional sign, or 0x hexadecimal of up to 64 bits.
  absl::StatusOr<int64_t> Integer();
  absl::StatusOr<int64_t> Integer(int64_t lo, int64_t hi);
  absl::StatusOr<uint64_t> Unsigned();
  absl::StatusOr<std::string> Quoted();
  // Braces inside braces, at most kMaxDepth: readers recurse.
  static constexpr int kMaxDepth = 200;
  absl::Status Enter();
  void Leave() { --depth_; }
  // InvalidArgument "name:line:column: message" at the next token.
  absl::Status Error(absl::string_view message);

 private:
  void SkipSpace();

  absl::string_view text_;
  std::string name_;
  size_t at_ = 0;
  int depth_ = 0;
};

}  // namespace ptxla::isa

#endif  // PTXLA_ISA_SCANNER_H_
