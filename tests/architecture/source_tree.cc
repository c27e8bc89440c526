#include "tests/architecture/source_tree.h"

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_split.h"
#include "absl/strings/string_view.h"

namespace ptxla::testing {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> ReadLines(const fs::path& path) {
  std::ifstream in(path);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

}  // namespace

std::map<std::string, std::set<std::string>> ReadLayers() {
  std::map<std::string, std::set<std::string>> layers;
  for (const std::string& line :
       ReadLines(fs::path(PTXLA_SOURCE_DIR) / "cmake/layers.txt")) {
    if (line.empty() || line[0] == '#') continue;
    const std::vector<std::string> parts = absl::StrSplit(line, ':');
    std::set<std::string>& reach = layers[parts[0]];
    reach.insert(parts[0]);
    for (const absl::string_view dep :
         absl::StrSplit(parts[1], ' ', absl::SkipEmpty())) {
      // Folders are listed after what they include, so `dep` is complete.
      const std::set<std::string>& further = layers.at(std::string(dep));
      reach.insert(further.begin(), further.end());
    }
  }
  return layers;
}

std::string LayerOf(
    const std::string& path,
    const std::map<std::string, std::set<std::string>>& layers) {
  std::string best;
  for (const auto& [layer, reach] : layers) {
    if (absl::StartsWith(path, layer + "/") && layer.size() > best.size()) {
      best = layer;
    }
  }
  return best;
}

std::vector<SourceFile> ListSources() {
  const fs::path root(PTXLA_SOURCE_DIR);
  std::vector<SourceFile> files;
  for (const auto& top : fs::directory_iterator(root)) {
    if (!fs::exists(top.path() / "CMakeLists.txt")) continue;
    for (const auto& entry : fs::recursive_directory_iterator(top.path())) {
      const std::string extension = entry.path().extension().string();
      if (extension != ".h" && extension != ".cc" && extension != ".def") {
        continue;
      }
      files.push_back(
          {fs::relative(entry.path(), root).string(), ReadLines(entry.path())});
    }
  }
  std::sort(
      files.begin(), files.end(),
      [](const SourceFile& a, const SourceFile& b) { return a.path < b.path; });
  return files;
}

}  // namespace ptxla::testing
