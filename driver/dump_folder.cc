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
#include "base/status.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/passes/scheduled/unschedule.h"

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
  const auto bytes = ReadFile(path);
  if (!bytes.ok()) return false;
  if (absl::EndsWith(path, ".txt")) return absl::StrContains(*bytes, ":T(");
  const auto file = hlo::ReadModule(*bytes, path);
  return file.ok() && hlo::HasTiledLayouts(*file->module);
}

template <class Map>
std::string Keys(const Map& map) {
  return absl::StrJoin(map, ", ", [](std::string* o, const auto& entry) {
    o->append(entry.first);
  });
}

// The stage that is asked for, or the best one.
absl::Status Choose(const std::string& folder, const Stages& stages,
                    const std::string& wanted, DumpedModule* dumped) {
  const auto take = [&](Stages::const_iterator it, const char* reason) {
    dumped->stage = it->first;
    dumped->path = it->second;
    dumped->reason = reason;
    return absl::OkStatus();
  };
  if (!wanted.empty()) {
    const auto it = stages.find(wanted);
    if (it != stages.end()) return take(it, "as asked");
    return absl::InvalidArgumentError(
        absl::StrCat(folder, " has no stage ", wanted, " of ", dumped->module,
                     ", only ", Keys(stages)));
  }
  const auto after = stages.find(kAfter), before = stages.find(kBefore);
  if (after != stages.end() && HasTiles(after->second)) {
    return take(after, "a TPU's: taken as it was compiled");
  }
  if (before != stages.end()) {
    return take(before, after == stages.end()
                            ? "compiled here"
                            : "compiled here: what follows is no TPU's");
  }
  if (after != stages.end()) return take(after, "the only stage");
  return take(stages.begin(), stages.size() == 1
                                  ? "the only stage"
                                  : "neither before_ nor after_optimizations");
}

}  // namespace

bool IsFolder(const std::string& path) {
  std::error_code error;
  return path != "-" && fs::is_directory(path, error);
}

absl::StatusOr<std::vector<DumpedModule>> ListDumpFolder(
    const std::string& folder, const std::string& module,
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
  std::vector<DumpedModule> list;
  for (const auto& [name, stages] : modules) {
    DumpedModule dumped;
    dumped.module = name;
    for (const auto& [key, path] : stages) dumped.stages.push_back(key);
    RETURN_IF_ERROR(Choose(folder, stages, stage, &dumped));
    list.push_back(std::move(dumped));
  }
  return list;
}

absl::StatusOr<std::string> FindInDumpFolder(const std::string& folder,
                                             const std::string& module,
                                             const std::string& stage) {
  ASSIGN_OR_RETURN(const std::vector<DumpedModule> modules,
                   ListDumpFolder(folder, module, stage));
  if (modules.size() == 1) return modules.front().path;
  return absl::InvalidArgumentError(absl::StrCat(
      folder, " holds ", modules.size(),
      " modules; choose one with --hlo-module: ",
      absl::StrJoin(modules, ", ", [](std::string* o, const DumpedModule& m) {
        o->append(m.module);
      })));
}

}  // namespace ptxla::driver
