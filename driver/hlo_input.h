// An HLO module from where the user points: read, parsed, verified. Errors are
// marked with their stage and name file, line and column.
#ifndef PTXLA_DRIVER_HLO_INPUT_H_
#define PTXLA_DRIVER_HLO_INPUT_H_

#include <memory>
#include <string>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct HloInput {
  std::unique_ptr<hlo::Module> module;
  std::string text;
  std::string hash;  // of the text
};

// A file, or "-" for standard input.
absl::StatusOr<HloInput> ReadHlo(const std::string& path);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_HLO_INPUT_H_
