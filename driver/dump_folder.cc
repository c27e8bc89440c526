#include "driver/dump_folder.h"

#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "absl/strings/strip.h"
#include "base/files.h"

namespace ptxla::driver {
namespace {

namespace fs = std::filesystem;

constexpr char kBefore[] = "before_optimizations";
constexpr char kAfter[] = "after_optimizations";

// Stage -> path. Of two kinds of file for one stage the text comes first.
using Stages = std::map<std::string, std::string>;

// "module_0003.jit_step" and "before_optimizations", or false.
bool SplitName(std::string name, std::string* module, std::string* stage) {
  absl::string_view rest = name;
  const bool program = absl::ConsumeSuffix(&rest, ".txt") ||
                       absl::ConsumeSuffix(&rest, ".hlo") ||
                       absl::ConsumeSuffix(&rest, ".hlo.pb") ||
                       absl::ConsumeSuffix(&rest, ".mlir") ||
                       absl::ConsumeSuffix(&rest, ".pb");
  if (!program || !absl::StartsWith(rest, "module_")) return false;
  std::vector<std::string> parts = absl::StrSplit(rest, '.');
  if (parts.size() < 3) return false;
  // Reports lie beside the programs:
  // "...after_optimizations-buffer-assignment".
  if (absl::StrContains(parts.back(), '-')) return false;
  *stage = parts.back();
  parts.pop_back();
  // The compiler's version is of no interest.
  if (absl::StartsWith(parts.back(), "cl_")) parts.pop_back();
  // A pass of the pipeline in between: module_0003.jit_f.0012.PIPELINE.after_X.
  *module = absl::StrCat(parts[0], parts.size() > 1 ? "." : "",
                         parts.size() > 1 ? parts[1] : "");
  return true;
}

bool HasTiles(const std::string& path) {
  const auto text = ReadFile(path);
  return text.ok() && absl::StrContains(*text, ":T(");
}

template <class Map>
std::string Keys(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* o, const auto& entry) {
    o->append(entry.first);
  });
}

}  // namespace

bool IsFolder(const std::string& path) {
  std::error_code error;
  return path != "-" && fs::is_directory(path, error);
}

absl::StatusOr<std::string> FindInDumpFolder(const std::string& folder,
                                             const std::string& module,
                                             const std::string& stage) {
  std::map<std::string, Stages> modules;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder, error)) {
    std::string name, of_stage;
    if (!SplitName(entry.path().filename().string(), &name, &of_stage)) {
      continue;
    }
    if (!absl::StrContains(name, module)) continue;
    std::string& path = modules[name][of_stage];
    const std::string candidate = entry.path().string();
    if (path.empty() || absl::EndsWith(candidate, ".txt")) path = candidate;
  }
  if (error) {
    return absl::NotFoundError(
        absl::StrCat("cannot list ", folder, ": ", error.message()));
  }
  if (modules.empty()) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder, " holds no module_*.txt or module_*.pb of --xla_dump_to",
        module.empty() ? ""
                       : absl::StrCat(" with \"", module, "\" in its name")));
  }
  if (modules.size() > 1) {
    return absl::InvalidArgumentError(absl::StrCat(
        folder, " holds ", modules.size(),
        " modules; choose one with --hlo-module: ", Keys(modules)));
  }
  const Stages& stages = modules.begin()->second;
  if (!stage.empty()) {
    auto it = stages.find(stage);
    if (it != stages.end()) return it->second;
    return absl::InvalidArgumentError(
        absl::StrCat(folder, " has no stage ", stage, " of ",
                     modules.begin()->first, ", only ", Keys(stages)));
  }
  auto after = stages.find(kAfter);
  auto before = stages.find(kBefore);
  if (after != stages.end() &&
      (before == stages.end() || HasTiles(after->second))) {
    return after->second;
  }
  if (before != stages.end()) return before->second;
  return stages.begin()->second;
}

}  // namespace ptxla::driver
