#include "tests/hlo_backend/evaluator/fixtures.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"
#include "base/status.h"
#include "hlo_backend/evaluator/npz.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

constexpr char kBelow[] = "/tests/data/frameworks/";

using ByName = std::map<std::string, Literal>;

ByName Named(NamedLiterals arrays) {
  ByName named;
  for (auto& [name, literal] : arrays) named[name] = std::move(literal);
  return named;
}

// PREFIX0, PREFIX1 ...
std::vector<Literal> Numbered(const ByName& arrays, const std::string& prefix) {
  std::vector<Literal> found;
  for (int k = 0;; ++k) {
    const auto it = arrays.find(absl::StrCat(prefix, k));
    if (it == arrays.end()) return found;
    found.push_back(it->second);
  }
}

// "// case NAME tolerance=R [devices=2x2]".
absl::Status ReadHeading(absl::string_view line, Fixture* fixture) {
  const std::vector<absl::string_view> words = absl::StrSplit(line, ' ');
  fixture->name = std::string(words[2]);
  for (absl::string_view word : words) {
    if (absl::ConsumePrefix(&word, "tolerance=") &&
        !absl::SimpleAtod(word, &fixture->tolerance)) {
      return absl::InvalidArgumentError(line);
    }
    if (!absl::ConsumePrefix(&word, "devices=")) continue;
    const std::vector<absl::string_view> grid = absl::StrSplit(word, 'x');
    if (grid.size() != 2 || !absl::SimpleAtoi(grid[0], &fixture->replicas) ||
        !absl::SimpleAtoi(grid[1], &fixture->partitions)) {
      return absl::InvalidArgumentError(line);
    }
  }
  return absl::OkStatus();
}

}  // namespace

double ToleranceOf(PrimitiveType type) {
  switch (type) {
    case PrimitiveType::kF32:
    case PrimitiveType::kC64:
      return 2e-5;
    case PrimitiveType::kF64:
    case PrimitiveType::kC128:
      return 1e-11;
    case PrimitiveType::kF16:
      return 2e-3;
    case PrimitiveType::kBf16:
      return 1.6e-2;
    default:
      return IsFloat(type) ? 0.13 : 0;  // one unit of 3 bits
  }
}

absl::StatusOr<std::vector<Fixture>> ReadHloCases(
    const std::string& source_folder) {
  const std::string folder = source_folder + kBelow;
  ASSIGN_OR_RETURN(const std::string text,
                   ReadFile(absl::StrCat(folder, "hlo_cases.txt")));
  ASSIGN_OR_RETURN(NamedLiterals arrays,
                   ReadNpz(absl::StrCat(folder, "hlo_cases.npz")));
  const ByName named = Named(std::move(arrays));
  std::vector<Fixture> fixtures;
  for (absl::string_view line : absl::StrSplit(text, '\n')) {
    if (absl::StartsWith(line, "// case ")) {
      Fixture fixture;
      RETURN_IF_ERROR(ReadHeading(line, &fixture));
      fixture.forms.push_back({fixture.name, ""});
      fixtures.push_back(std::move(fixture));
    } else if (!fixtures.empty()) {
      absl::StrAppend(&fixtures.back().forms[0].bytes, line, "\n");
    }
  }
  for (Fixture& f : fixtures) {
    const int64_t devices = f.replicas * f.partitions;
    for (int64_t d = 0; d < devices; ++d) {
      const std::string prefix =
          devices == 1 ? f.name : absl::StrCat(f.name, "/", d);
      f.arguments.push_back(Numbered(named, prefix + "/arg"));
      f.outputs.push_back(Numbered(named, prefix + "/out"));
    }
  }
  return fixtures;
}

absl::StatusOr<std::vector<Fixture>> ReadFrameworkPrograms(
    const std::string& source_folder) {
  std::vector<std::string> paths;
  for (const auto& entry :
       fs::recursive_directory_iterator(source_folder + kBelow)) {
    if (entry.is_regular_file()) paths.push_back(entry.path().string());
  }
  std::sort(paths.begin(), paths.end());
  // Names of one program lie side by side but for "a.hlo" and "a_b.hlo".
  std::map<std::string, Fixture> by_stem;
  for (const std::string& path : paths) {
    const size_t slash = path.rfind('/') + 1;
    const std::string stem = path.substr(0, path.find('.', slash));
    const std::string file = path.substr(slash);
    if (absl::StartsWith(file, "hlo_cases.")) continue;
    Fixture& fixture = by_stem[stem];
    fixture.name = stem.substr(slash);
    if (absl::EndsWith(path, ".npz")) {
      ASSIGN_OR_RETURN(NamedLiterals arrays, ReadNpz(path));
      const ByName named = Named(std::move(arrays));
      fixture.arguments = {Numbered(named, "arg")};
      fixture.outputs = {Numbered(named, "out")};
      continue;
    }
    ASSIGN_OR_RETURN(std::string bytes, ReadFile(path));
    fixture.forms.push_back({file, std::move(bytes)});
  }
  std::vector<Fixture> fixtures;
  for (auto& [stem, fixture] : by_stem) {
    if (fixture.outputs.empty() || fixture.forms.empty()) {
      return absl::InvalidArgumentError(
          absl::StrCat(stem, " has no arrays or no program"));
    }
    fixtures.push_back(std::move(fixture));
  }
  return fixtures;
}

}  // namespace ptxla::hlo
