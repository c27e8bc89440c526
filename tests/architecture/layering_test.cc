// Does the tree keep the include DAG of cmake/layers.txt?
#include <regex>
#include <set>

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

bool IsForDevelopment(const SourceFile& file) {
  return file.path.rfind("tests/", 0) == 0 ||
         file.path.rfind("benchmarks/", 0) == 0;
}

TEST(LayeringTest, EverySourceFolderHasALayerAndEveryLayerIsAFolder) {
  const auto layers = ReadLayers();
  std::set<std::string> found;
  for (const SourceFile& file : ListSources()) {
    if (IsForDevelopment(file)) continue;
    const std::string layer = LayerOf(file.path, layers);
    EXPECT_NE(layer, "") << file.path << ": no line of cmake/layers.txt";
    found.insert(layer);
  }
  for (const auto& [layer, reach] : layers) {
    // Protobuf only, whose code is generated.
    if (layer == "record") continue;
    EXPECT_EQ(found.count(layer), 1u)
        << layer << " of cmake/layers.txt has no source file";
  }
}

TEST(LayeringTest, EveryIncludeFollowsTheLayers) {
  const auto layers = ReadLayers();
  int checked = 0;
  for (const SourceFile& file : ListSources()) {
    if (IsForDevelopment(file)) continue;  // they may include anything
    const std::string from = LayerOf(file.path, layers);
    ASSERT_NE(from, "") << file.path;
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
