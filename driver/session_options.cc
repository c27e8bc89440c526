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

}  // namespace ptxla::driver
