// docs/compiler/passes.md names every pass of the TPU pipeline, in its order.
#include <algorithm>
#include <regex>
#include <string>
#include <vector>

#include "base/files.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

// What `name` matches in `text`, each once.
std::vector<std::string> NamesIn(const std::string& text,
                                 const std::regex& name) {
  std::vector<std::string> names;
  for (std::sregex_iterator it(text.begin(), text.end(), name), end; it != end;
       ++it) {
    const std::string found = (*it)[1];
    if (std::find(names.begin(), names.end(), found) == names.end()) {
      names.push_back(found);
    }
  }
  return names;
}

TEST(PassTableTest, HasThePassesOfThePipelineInOrder) {
  const std::string source = PTXLA_SOURCE_DIR;
  ASSERT_OK_AND_ASSIGN(
      const std::string pipeline,
      ReadFile(source + "/hlo_backend/compiler/pipelines/tpu.textproto"));
  ASSERT_OK_AND_ASSIGN(const std::string page,
                       ReadFile(source + "/docs/compiler/passes.md"));
  const size_t begin = page.find("| step | passes |");
  ASSERT_NE(begin, std::string::npos);
  const size_t first_row = page.find("|---", begin);
  const size_t end = page.find("\n\n", first_row);
  std::string passes;
  const std::string table = page.substr(first_row, end - first_row);
  static const std::regex kRow("\n\\|[^|]*\\|([^|]*)\\|");
  for (std::sregex_iterator it(table.begin(), table.end(), kRow), last;
       it != last; ++it) {
    passes += (*it)[1].str() + ",";
  }
  EXPECT_EQ(NamesIn(passes, std::regex("([a-z0-9-]+)\\s*,")),
            NamesIn(pipeline, std::regex("pass(?:es)?: \"([a-z0-9-]+)\"")));
}

}  // namespace
}  // namespace ptxla::testing
