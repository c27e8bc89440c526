#include "driver/prediction.h"

#include "base/status.h"
#include "driver/hlo_run.h"
#include "driver/stage.h"
#include "driver/workload_run.h"

namespace ptxla::driver {
namespace {

absl::StatusOr<chips::Slice> FindSlice(const RunRequest& request) {
  if (request.topology.empty()) {
    return absl::InvalidArgumentError(
        "--topology is missing: name a slice, e.g. --topology v5e-8 "
        "(ptxla-sim chips lists them)");
  }
  chips::SliceOptions options;
  options.cores_per_chip = request.cores_per_chip;
  std::optional<chips::ChipSpec> chip;
  if (!request.chip_file.empty()) {
    ASSIGN_OR_RETURN(chip, chips::ChipSpec::LoadFile(request.chip_file));
    options.chip = &*chip;
  }
  return chips::ParseSlice(request.topology, options);
}

}  // namespace

const char* Version() { return PTXLA_VERSION; }

absl::StatusOr<Prediction> Predict(const RunRequest& request) {
  if (request.workload.empty() == request.hlo.empty()) {
    return At("arguments",
              absl::InvalidArgumentError(
                  request.hlo.empty()
                      ? "nothing to run: give --workload NAME or --hlo FILE"
                      : "--workload and --hlo exclude each other"));
  }
  auto slice = FindSlice(request);
  if (!slice.ok()) return At("arguments", slice.status());
  return request.hlo.empty() ? RunWorkload(request, *slice)
                             : RunHlo(request, *slice);
}

}  // namespace ptxla::driver
