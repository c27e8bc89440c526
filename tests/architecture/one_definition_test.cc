// Two types of one name in one namespace are one type to the linker, which
// keeps one of the functions that templates make of them (std::vector's, say):
// files that mean the other use it with another size.
#include <map>
#include <string>
#include <utility>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "tests/architecture/declared_names.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {
namespace {

TEST(OneDefinitionTest, NoTwoFilesDefineATypeOfOneName) {
  std::map<std::pair<std::string, std::string>, std::string> where;
  for (const SourceFile& file : ListSources()) {
    if (!absl::EndsWith(file.path, ".h") && !absl::EndsWith(file.path, ".cc")) {
      continue;
    }
    for (const Declared& d : DeclaredIn(file)) {
      if (d.anonymous || !d.defines_type) continue;
      const auto [it, added] = where.try_emplace({d.space, d.name}, file.path);
      EXPECT_TRUE(added) << file.path << ": " << d.space << d.name
                         << " is defined in " << it->second << " too";
    }
  }
  EXPECT_GT(where.size(), 1000u);
}

}  // namespace
}  // namespace ptxla::testing
