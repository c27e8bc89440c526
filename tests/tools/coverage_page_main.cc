// Prints docs/coverage.md: coverage_page > docs/coverage.md
#include <cstdio>

#include "tests/tools/coverage_page.h"

int main() {
  const auto page = ptxla::CoveragePage(PTXLA_SOURCE_DIR);
  if (!page.ok()) {
    std::fprintf(stderr, "%s\n", page.status().ToString().c_str());
    return 1;
  }
  std::fputs(page->c_str(), stdout);
  return 0;
}
