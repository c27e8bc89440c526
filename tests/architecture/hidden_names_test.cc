// Files of a folder are compiled as one (ptxla_use_unity of cmake/ptxla.cmake),
// so their anonymous namespaces are one. A name in there that a header declares
// too, in the same namespace, would be taken by neighbours that mean the
// header's, silently: what surrounds it is not searched any more.
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/string_view.h"
#include "gtest/gtest.h"
#include "tests/architecture/declared_names.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {
namespace {

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

// Words that are neither qualified nor members: names that are looked up.
std::set<std::string> WordsOf(const SourceFile& file) {
  std::set<std::string> words;
  for (const std::string& text : file.lines) {
    const std::string line = text.substr(0, text.find("//"));
    for (size_t at = 0; at < line.size();) {
      if (!IsOfWord(line[at])) {
        ++at;
        continue;
      }
      const std::string word = FirstWord(absl::string_view(line).substr(at));
      const char before = at == 0 ? ' ' : line[at - 1];
      if (before != ':' && before != '.' && before != '>') words.insert(word);
      at += word.size();
    }
  }
  return words;
}

struct Source {
  std::string path;
  std::set<std::string> words, own;
};

TEST(HiddenNamesTest, NoFileHidesANameOfAHeaderThatAFileBesideItUses) {
  std::map<std::pair<std::string, std::string>, std::string> headers;
  std::map<std::string, std::vector<Source>> folders;
  std::vector<std::pair<std::string, Declared>> hidden;
  for (const SourceFile& file : ListSources()) {
    if (absl::EndsWith(file.path, ".h")) {
      for (const Declared& d : DeclaredIn(file)) {
        if (!d.anonymous) headers[{d.space, d.name}] = file.path;
      }
    }
    if (!absl::EndsWith(file.path, ".cc")) continue;
    Source source{file.path, WordsOf(file), {}};
    for (Declared& d : DeclaredIn(file)) {
      if (!d.anonymous) continue;
      source.own.insert(d.name);
      hidden.emplace_back(file.path, std::move(d));
    }
    folders[FolderOf(file.path)].push_back(std::move(source));
  }
  EXPECT_GT(headers.size(), 1000u);
  EXPECT_GT(hidden.size(), 1000u);
  for (const auto& [path, d] : hidden) {
    auto header = headers.find({d.space, d.name});
    if (header == headers.end() ||
        (absl::StartsWith(header->second, "tests/") &&
         !absl::StartsWith(path, "tests/"))) {
      continue;
    }
    for (const Source& beside : folders[FolderOf(path)]) {
      const bool means_header = beside.path != path &&
                                beside.words.count(d.name) > 0 &&
                                beside.own.count(d.name) == 0;
      EXPECT_FALSE(means_header) << path << ": " << d.name << " hides that of "
                                 << header->second << " from " << beside.path;
    }
  }
}

}  // namespace
}  // namespace ptxla::testing
