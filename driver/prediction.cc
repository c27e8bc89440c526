#include "driver/prediction.h"

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "driver/device_session.h"
#include "driver/hlo_run.h"
#include "driver/stage.h"
#include "driver/workload_run.h"

namespace ptxla::driver {
namespace {

// What says something about the other kind of input would be left unread.
absl::Status CheckInput(const RunRequest& r) {
  if (r.workload.empty() == r.hlo.empty()) {
    return absl::InvalidArgumentError(
        r.hlo.empty() ? "nothing to run: give --workload NAME or --hlo FILE"
                      : "--workload and --hlo exclude each other");
  }
  const auto refuse = [](absl::string_view option, absl::string_view input) {
    return absl::InvalidArgumentError(
        absl::StrCat(option, " goes with ", input, " only"));
  };
  if (r.workload.empty()) {
    if (r.global_batch) return refuse("--global-batch", "--workload");
    if (r.batch_per_chip) return refuse("--batch-per-chip", "--workload");
    if (r.seq) return refuse("--seq", "--workload");
    if (!r.settings.empty()) return refuse("--set", "--workload");
    if (r.steps != RunRequest().steps) return refuse("--steps", "--workload");
  } else {
    if (!r.hlo_module.empty()) return refuse("--hlo-module", "--hlo");
    if (!r.hlo_stage.empty()) return refuse("--hlo-stage", "--hlo");
    if (!r.sizes.empty()) return refuse("--sizes", "--hlo");
    if (r.elided != RunRequest().elided) return refuse("--elided", "--hlo");
    if (r.assumed_trip_count != 0) return refuse("--trip-count", "--hlo");
  }
  return absl::OkStatus();
}

}  // namespace

const char* Version() { return PTXLA_VERSION; }

absl::StatusOr<Prediction> Predict(const RunRequest& request) {
  RETURN_IF_ERROR(At("arguments", CheckInput(request)));
  const auto slice = FindSlice(request);
  if (!slice.ok()) return slice.status();
  return request.hlo.empty() ? RunWorkload(request, *slice)
                             : RunHlo(request, *slice);
}

}  // namespace ptxla::driver
