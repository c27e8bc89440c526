// Files of a folder are compiled as one (ptxla_use_unity of cmake/ptxla.cmake),
// so their anonymous namespaces are one. A name in there that a header declares
// too, in the same namespace, would be taken by neighbours that mean the
// header's, silently: what surrounds it is not searched any more.
#include <cctype>
#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"
#include "absl/strings/strip.h"
#include "gtest/gtest.h"
#include "tests/architecture/source_tree.h"

namespace ptxla::testing {
namespace {

struct Declared {
  std::string space;       // "ptxla::hlo"
  bool anonymous = false;  // in an anonymous namespace in there
  std::string name;
};

bool IsOfWord(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) || c == '_';
}

std::string FolderOf(const std::string& path) {
  return path.substr(0, path.rfind('/'));
}

std::string FirstWord(absl::string_view text) {
  size_t n = 0;
  while (n < text.size() && IsOfWord(text[n])) ++n;
  return std::string(text.substr(0, n));
}

// Of a function: the capitalized word before the first parenthesis, unless it
// is a member's.
std::string FunctionName(absl::string_view line) {
  const size_t end = line.find('(');
  if (end == absl::string_view::npos) return "";
  size_t begin = end;
  while (begin > 0 && IsOfWord(line[begin - 1])) --begin;
  const bool is_member = begin > 0 && line[begin - 1] == ':';
  const bool is_name = begin < end && begin > 0 && std::isupper(line[begin]);
  return is_name && !is_member ? std::string(line.substr(begin, end - begin))
                               : "";
}

// The name that a line declares which begins at its left edge, as clang-format
// puts what is not in a class or function; "" if none.
std::string NameOf(absl::string_view line) {
  if (line.empty() || !std::isalpha(static_cast<unsigned char>(line[0]))) {
    return "";
  }
  absl::ConsumePrefix(&line, "inline ");
  for (absl::string_view kind :
       {"class ", "struct ", "enum class ", "enum ", "union "}) {
    if (absl::ConsumePrefix(&line, kind)) return FirstWord(line);
  }
  if (absl::ConsumePrefix(&line, "using ")) {
    return absl::StrContains(line, " = ") ? FirstWord(line) : "";
  }
  if (absl::StartsWith(line, "template") || absl::StartsWith(line, "TEST")) {
    return "";
  }
  if (absl::StartsWith(line, "const")) {
    const size_t at = line.find(" k");
    if (at != absl::string_view::npos) return FirstWord(line.substr(at + 1));
  }
  return FunctionName(line);
}

std::vector<Declared> DeclaredIn(const SourceFile& file) {
  std::vector<Declared> all;
  std::vector<std::string> open;  // namespaces; "" is an anonymous one
  for (const std::string& text : file.lines) {
    absl::string_view line = text;
    if (absl::StartsWith(line, "}  // namespace")) {
      if (!open.empty()) open.pop_back();
    } else if (absl::ConsumePrefix(&line, "namespace ") &&
               absl::ConsumeSuffix(&line, "{")) {
      open.emplace_back(absl::StripSuffix(line, " "));
    } else if (std::string name = NameOf(text); !name.empty()) {
      Declared d;
      for (const std::string& space : open) {
        d.anonymous |= space.empty();
        absl::StrAppend(&d.space, space, space.empty() ? "" : "::");
      }
      d.name = std::move(name);
      all.push_back(std::move(d));
    }
  }
  return all;
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
