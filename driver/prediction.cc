#include "driver/prediction.h"

#include "base/status.h"
#include "driver/device_session.h"
#include "driver/hlo_run.h"
#include "driver/stage.h"
#include "driver/workload_run.h"

namespace ptxla::driver {
const char* Version() { return PTXLA_VERSION; }

absl::StatusOr<Prediction> Predict(const RunRequest& request) {
  if (request.workload.empty() == request.hlo.empty()) {
    return At("arguments",
              absl::InvalidArgumentError(
                  request.hlo.empty()
                      ? "nothing to run: give --workload NAME or --hlo FILE"
                      : "--workload and --hlo exclude each other"));
  }
  const auto slice = FindSlice(request);
  if (!slice.ok()) return slice.status();
  return request.hlo.empty() ? RunWorkload(request, *slice)
                             : RunHlo(request, *slice);
}

}  // namespace ptxla::driver
