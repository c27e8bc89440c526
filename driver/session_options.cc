#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/device_session.h"
#include "driver/stage.h"

namespace ptxla::driver {

absl::StatusOr<SessionOptions> MakeSessionOptions(const RunRequest& request) {
  SessionOptions options;
  auto fidelity = sim::ParseFidelity(request.fidelity);
  if (!fidelity.ok()) return At("arguments", fidelity.status());
  options.fidelity = *fidelity;
  options.estimate_unknown_ops = request.estimate_unknown_ops;
  options.assumed_trip_count = request.assumed_trip_count;
  options.verify = request.verify;
  options.prove = request.prove;
  options.transfers = request.timeline;
  options.keep_modules = !request.explain.empty();
  if (request.compiler == "own") return options;
  if (request.compiler != "libtpu") {
    return At("arguments", absl::InvalidArgumentError(absl::StrCat(
                               "--compiler is own or libtpu, not \"",
                               request.compiler, "\"")));
  }
  auto libtpu = LibtpuCompiler::Find({request.python, request.compiler_cache});
  if (!libtpu.ok()) return At("arguments", libtpu.status());
  options.libtpu = std::make_shared<LibtpuCompiler>(*std::move(libtpu));
  return options;
}

absl::StatusOr<chips::Slice> FindSlice(const RunRequest& request) {
  if (request.topology.empty()) {
    return At("arguments",
              absl::InvalidArgumentError(
                  "--topology is missing: name a slice, e.g. --topology v5e-8 "
                  "(ptxla-sim chips lists them)"));
  }
  chips::SliceOptions options;
  options.cores_per_chip = request.cores_per_chip;
  std::optional<chips::ChipSpec> chip;
  if (!request.chip_file.empty()) {
    auto loaded = chips::ChipSpec::LoadFile(request.chip_file);
    if (!loaded.ok()) return At("arguments", loaded.status());
    chip = *std::move(loaded);
    options.chip = &*chip;
  }
  auto slice = chips::ParseSlice(request.topology, options);
  if (!slice.ok()) return At("arguments", slice.status());
  if (chip.has_value() && slice->chip.name() != chip->name()) {
    return At("arguments",
              absl::InvalidArgumentError(absl::StrCat(
                  "--chip-file ", request.chip_file, " is of ", chip->name(),
                  ", ", request.topology, " is a slice of ", slice->chip.name(),
                  ": name a slice of ", chip->name())));
  }
  return slice;
}

absl::Status CheckDevices(const hlo::Module& module,
                          const chips::Slice& slice) {
  const int64_t wanted = module.DeviceCount();
  const int have = slice.topology.num_devices();
  if (wanted <= have) return absl::OkStatus();
  return absl::InvalidArgumentError(absl::StrCat(
      "module ", module.name(), " is for ", wanted, " devices; ",
      slice.topology.name(), " has ", have, ": choose a larger --topology"));
}

}  // namespace ptxla::driver
