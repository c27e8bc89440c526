#include "driver/libtpu/libtpu_compiler.h"

#include <unistd.h>

#include <filesystem>
#include <system_error>
#include <utility>
#include <vector>

#include "absl/strings/ascii.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/process.h"
#include "base/progress.h"
#include "base/status.h"
#include "embed/driver_libtpu_compile.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"

namespace ptxla::driver {
namespace {

namespace fs = std::filesystem;

// Exit codes of libtpu_compile.py.
constexpr int kMissing = 3;
constexpr int kRefused = 4;

// Versions of libtpu that were tried, and with which jax.
constexpr char kInstall[] =
    "pip install jax==0.10.2 libtpu==0.0.42.1 (--python names another Python)";

std::string LastLine(absl::string_view text) {
  const absl::string_view end = absl::StripTrailingAsciiWhitespace(text);
  return std::string(end.substr(end.rfind('\n') + 1));
}

absl::Status MakeFolder(const std::string& path) {
  std::error_code error;
  fs::create_directories(path, error);
  if (!error) return absl::OkStatus();
  return absl::InvalidArgumentError(
      absl::StrCat("cannot make the folder ", path, ": ", error.message()));
}

// On its way through StableHLO a tuple of one result becomes that result, but
// the aliases of the header keep its index: here the tuple goes with its index.
std::unique_ptr<hlo::Module> WithoutTupleOfOne(const hlo::Module& module) {
  std::unique_ptr<hlo::Module> bare = module.Clone();
  hlo::Instruction* root = bare->entry()->root();
  bare->entry()->SetRoot(root->operand(0));
  if (root->user_count() == 0) bare->entry()->Remove(root);
  for (hlo::InputOutputAlias& alias :
       bare->mutable_config()->input_output_alias) {
    if (!alias.output.empty()) alias.output.erase(alias.output.begin());
  }
  if (auto& layout = bare->mutable_config()->entry_layout; layout.has_value()) {
    layout->result = hlo::Shape(layout->result.element(0));
  }
  return bare;
}

std::string TextFor(const hlo::Module& module) {
  const hlo::Instruction& root = *module.entry()->root();
  const bool one = root.opcode() == hlo::Opcode::kTuple &&
                   root.operand_count() == 1 &&
                   !module.config().input_output_alias.empty();
  return hlo::Print(one ? *WithoutTupleOfOne(module) : module);
}

}  // namespace

absl::StatusOr<LibtpuCompiler> LibtpuCompiler::Find(
    const LibtpuOptions& options) {
  LibtpuCompiler found;
  found.options_ = options;
  RETURN_IF_ERROR(MakeFolder(options.cache));
  const absl::string_view helper = kLibtpuCompile[0].text;
  found.helper_ = absl::StrCat(options.cache, "/libtpu_compile.",
                               HashToHex(HashBytes(helper)), ".py");
  if (!fs::exists(found.helper_)) {
    RETURN_IF_ERROR(WriteFile(found.helper_, helper));
  }
  const auto versions = RunProcess({options.python, found.helper_, "versions"});
  if (!versions.ok()) {
    return absl::InvalidArgumentError(
        absl::StrCat("--compiler=libtpu needs Python with jax and libtpu: ",
                     versions.status().message(), "; ", kInstall));
  }
  if (versions->exit_code == kMissing) {
    return absl::InvalidArgumentError(
        absl::StrCat("--compiler=libtpu: ", options.python, " has no ",
                     LastLine(versions->errors), ": ", kInstall));
  }
  found.name_ = LastLine(versions->output);
  if (versions->exit_code != 0 || found.name_.empty()) {
    const auto why = LastLine(versions->errors);
    return absl::InvalidArgumentError(
        why.empty()
            ? absl::StrCat("--compiler=libtpu: ", options.python,
                           " is no Python (exit code ", versions->exit_code,
                           ", no word); ", kInstall)
            : absl::StrCat("--compiler=libtpu: ", options.python, ": ", why));
  }
  return found;
}

absl::StatusOr<std::unique_ptr<hlo::Module>> LibtpuCompiler::Compile(
    const hlo::Module& module, const chips::Slice& slice) const {
  if (slice.topology.num_slices() > 1) {
    return absl::UnimplementedError(
        "--compiler=libtpu: several slices joined by a network");
  }
  const Activity compiling(absl::StrCat("libtpu compiles ", module.name()));
  const std::string text = TextFor(module);
  const std::string shape = absl::StrJoin(slice.topology.shape(), "x");
  const std::string& chip = slice.chip.name();
  Fingerprint key;
  key.Add(kLibtpuCompile[0].text).Add(name_).Add(chip).Add(shape).Add(text);
  const std::string stem =
      absl::StrCat(options_.cache, "/", HashToHex(key.value()));
  const std::string result = absl::StrCat(stem, ".scheduled.hlo");
  if (!fs::exists(result)) {
    // Two runs at once do not write into one file.
    const std::string input = absl::StrCat(stem, ".", getpid(), ".hlo");
    const std::string part = absl::StrCat(stem, ".", getpid(), ".part");
    RETURN_IF_ERROR(WriteFile(input, text));
    ASSIGN_OR_RETURN(const ProcessResult run,
                     RunProcess({options_.python, helper_, "compile", chip,
                                 shape, input, part}));
    std::error_code error;
    fs::remove(input, error);
    if (run.exit_code != 0) {
      const std::string why = absl::StrCat(name_, ": ", LastLine(run.errors));
      return run.exit_code == kRefused ? absl::InvalidArgumentError(why)
                                       : absl::InternalError(why);
    }
    fs::rename(part, result, error);
    if (error) {
      return absl::InvalidArgumentError(
          absl::StrCat("cannot write ", result, ": ", error.message()));
    }
  }
  ASSIGN_OR_RETURN(const std::string scheduled, ReadFile(result));
  auto parsed = hlo::ParseModule(scheduled, result);
  if (!parsed.ok()) return AddContext(parsed.status(), name_);
  return parsed;
}

}  // namespace ptxla::driver
