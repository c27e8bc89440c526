#include "driver/stage.h"

#include "absl/strings/cord.h"
#include "absl/strings/match.h"
#include "base/status.h"

namespace ptxla::driver {
namespace {
constexpr char kPayload[] = "ptxla.stage";
}  // namespace

absl::Status At(absl::string_view stage, absl::Status status) {
  if (!status.ok() && !status.GetPayload(kPayload).has_value()) {
    status.SetPayload(kPayload, absl::Cord(stage));
  }
  return status;
}

std::string StageOf(const absl::Status& status) {
  const auto payload = status.GetPayload(kPayload);
  return payload.has_value() ? std::string(*payload) : std::string();
}

int ExitCode(const absl::Status& status) {
  switch (status.code()) {
    case absl::StatusCode::kOk:
      return kExitDone;
    case absl::StatusCode::kInvalidArgument:
    case absl::StatusCode::kNotFound:
    case absl::StatusCode::kOutOfRange:
    case absl::StatusCode::kAlreadyExists:
    case absl::StatusCode::kPermissionDenied:
    case absl::StatusCode::kUnavailable:
      return kExitUsage;
    case absl::StatusCode::kResourceExhausted:
      return kExitDoesNotFit;
    case absl::StatusCode::kUnimplemented:
      return kExitUnsupported;
    default:
      return kExitInternal;
  }
}

absl::Status InFile(absl::string_view path, const absl::Status& status) {
  return absl::StartsWith(status.message(), path) ? status
                                                  : AddContext(status, path);
}

}  // namespace ptxla::driver
