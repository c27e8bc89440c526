// Does the tree keep the include DAG of cmake/layers.txt?
#include <regex>

#include "gtest/gtest.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {
namespace {

std::vector<std::string> QuotedIncludes(const SourceFile& file) {
  static const std::regex kInclude("^\\s*#include \"([^\"]+)\".*");
  std::vector<std::string> includes;
  for (const std::string& line : file.lines) {
    std::smatch match;
    if (std::regex_match(line, match, kInclude)) includes.push_back(match[1]);
  }
  return includes;
}

TEST(LayeringTest, EveryIncludeFollowsTheLayers) {
  const auto layers = ReadLayers();
  int checked = 0;
  for (const SourceFile& file : ListSources()) {
    const std::string from = LayerOf(file.path, layers);
    if (from.empty()) continue;  // tests and benchmarks may include anything
    for (const std::string& include : QuotedIncludes(file)) {
      const std::string to = LayerOf(include, layers);
      EXPECT_NE(include.rfind("tests/", 0), 0u)
          << file.path << " includes a test file: " << include;
      if (to.empty()) continue;  // Abseil, protobuf, generated embed/ headers
      ++checked;
      EXPECT_TRUE(layers.at(from).count(to) > 0)
          << file.path << " includes " << include << ", but " << from
          << " may not include " << to << " (cmake/layers.txt)";
    }
  }
  EXPECT_GT(checked, 10);
}

TEST(LayeringTest, OnlySimScIncludesSystemC) {
  for (const SourceFile& file : ListSources()) {
    if (file.path.rfind("sim/sc/", 0) == 0 ||
        file.path.rfind("tests/sim/sc/", 0) == 0) {
      continue;
    }
    for (const std::string& line : file.lines) {
      const bool systemc = line.rfind("#include <systemc", 0) == 0 ||
                           line.rfind("#include <tlm", 0) == 0;
      EXPECT_FALSE(systemc) << file.path << ": " << line;
    }
  }
}

}  // namespace
}  // namespace ptxla::testing
