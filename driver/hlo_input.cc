#include "driver/hlo_input.h"

#include <utility>

#include "absl/strings/match.h"
#include "base/files.h"
#include "base/hash.h"
#include "base/status.h"
#include "driver/stage.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"

namespace ptxla::driver {

absl::StatusOr<HloInput> ReadHlo(const std::string& path) {
  auto text = ReadFile(path);
  if (!text.ok()) return At("input", text.status());
  const std::string name = path == "-" ? "<stdin>" : path;
  auto module = hlo::ParseModule(*text, name);
  if (!module.ok()) {
    return At("parse", absl::StartsWith(module.status().message(), name)
                           ? module.status()
                           : AddContext(module.status(), name));
  }
  RETURN_IF_ERROR(At("verify", hlo::VerifyModule(**module)));
  HloInput input;
  input.module = *std::move(module);
  input.hash = HashToHex(HashBytes(*text));
  input.text = *std::move(text);
  return input;
}

}  // namespace ptxla::driver
