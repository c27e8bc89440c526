#include "driver/hlo_input.h"

#include <utility>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/status.h"
#include "driver/dump_folder.h"
#include "driver/stage.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::driver {

namespace {

std::string AnotherModule(size_t modules) {
  return absl::StrCat("one of ", modules,
                      " modules (--hlo-module chooses others)");
}

absl::Status CheckSizesKnown(const hlo::Module& module,
                             hlo::FileFormat format) {
  for (const hlo::Computation* c : module.computations()) {
    for (const hlo::Instruction* i : c->instructions()) {
      if (!i->shape().HasUnboundedDims()) continue;
      return absl::UnimplementedError(
          absl::StrCat(hlo::Describe(*i), ": nothing says the size of ",
                       i->shape().ToString(),
                       format == hlo::FileFormat::kStableHloText
                           ? ": give the sizes of the arguments' open "
                             "dimensions (--sizes=8,128)"
                           : ": write a number"));
    }
  }
  return absl::OkStatus();
}

}  // namespace

absl::StatusOr<HloInput> ReadHloBytes(std::string bytes,
                                      const std::string& name,
                                      const HloInputOptions& options) {
  auto file = hlo::ReadModule(bytes, name, options.sizes);
  if (!file.ok()) {
    return At("parse", InFile(name, file.status()));
  }
  RETURN_IF_ERROR(At("verify", hlo::VerifyModule(*file->module)));
  if (!options.allow_unknown_sizes) {
    if (auto known = CheckSizesKnown(*file->module, file->format);
        !known.ok()) {
      return At("verify", InFile(name, known));
    }
  }
  HloInput input;
  input.filled_constants = hlo::FillElided(file->module.get(), options.elided);
  input.module = std::move(file->module);
  input.format = file->format;
  input.arguments = std::move(file->arguments);
  input.hash = HashToHex(HashBytes(bytes));
  input.path = name;
  if (input.format == hlo::FileFormat::kHloText && bytes[0] != '\x1f') {
    input.text = std::move(bytes);
  }
  return input;
}

absl::StatusOr<HloInput> ReadHlo(const std::string& path,
                                 const HloInputOptions& options) {
  std::string file = path;
  if (IsFolder(path)) {
    auto chosen = FindInDumpFolder(path, options.module, options.stage);
    if (!chosen.ok()) return At("input", chosen.status());
    file = *std::move(chosen);
  } else if (!options.module.empty() || !options.stage.empty()) {
    return At("input", absl::InvalidArgumentError(absl::StrCat(
                           path,
                           ": --hlo-module and --hlo-stage choose from a "
                           "folder, this is a file")));
  }
  auto bytes = ReadFile(file);
  if (!bytes.ok()) return At("input", bytes.status());
  return ReadHloBytes(*std::move(bytes), path == "-" ? "<stdin>" : file,
                      options);
}

absl::StatusOr<std::vector<HloInput>> ReadHloModules(
    const std::string& path, const HloInputOptions& options,
    std::vector<std::string>* notes) {
  std::vector<HloInput> inputs;
  if (!IsFolder(path)) {
    ASSIGN_OR_RETURN(HloInput input, ReadHlo(path, options));
    inputs.push_back(std::move(input));
    return inputs;
  }
  const auto modules = ListDumpFolder(path, options.module, options.stage);
  if (!modules.ok()) return At("input", modules.status());
  HloInputOptions of_file = options;
  of_file.module = of_file.stage = "";
  for (const DumpedModule& m : *modules) {
    auto input = ReadHlo(m.path, of_file);
    if (!input.ok()) {
      return modules->size() == 1
                 ? input.status()
                 : AddContext(input.status(), AnotherModule(modules->size()));
    }
    inputs.push_back(*std::move(input));
    notes->push_back(absl::StrCat(
        m.module, ": ", m.stage, ", ", m.reason,
        m.stages.size() > 1 ? absl::StrCat(" (--hlo-stage: ",
                                           absl::StrJoin(m.stages, ", "), ")")
                            : ""));
  }
  return inputs;
}

}  // namespace ptxla::driver
