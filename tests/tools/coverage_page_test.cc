#include "tests/tools/coverage_page.h"

#include <fstream>
#include <iterator>

#include "tests/support/status_matchers.h"

namespace ptxla {
namespace {

// What compiles and what does not is found out by trying: the page says it as
// it is.
TEST(CoveragePageTest, ThePageIsFresh) {
  ASSERT_OK_AND_ASSIGN(const std::string page, CoveragePage(PTXLA_SOURCE_DIR));
  std::ifstream in(PTXLA_SOURCE_DIR "/docs/coverage.md");
  const std::string stored{std::istreambuf_iterator<char>(in), {}};
  EXPECT_TRUE(page == stored)
      << "docs/coverage.md is stale: write it anew with "
         "build/tests/tools/coverage_page > docs/coverage.md";
}

}  // namespace
}  // namespace ptxla
