// What a source file declares outside of classes and functions, read off the
// left edge of its lines, where clang-format puts it.
#ifndef PTXLA_TESTS_ARCHITECTURE_DECLARED_NAMES_H_
#define PTXLA_TESTS_ARCHITECTURE_DECLARED_NAMES_H_

#include <string>
#include <vector>

#include "absl/strings/string_view.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {

struct Declared {
  std::string space;          // "ptxla::hlo::"
  bool anonymous = false;     // in an anonymous namespace in there
  bool defines_type = false;  // a class, struct, enum or union with its body
  std::string name;
};

std::vector<Declared> DeclaredIn(const SourceFile& file);

bool IsOfWord(char c);
// The letters, digits and underscores that `text` begins with.
std::string FirstWord(absl::string_view text);

}  // namespace ptxla::testing

#endif  // PTXLA_TESTS_ARCHITECTURE_DECLARED_NAMES_H_
