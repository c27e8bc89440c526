// Which stage of a run an error comes from, for JSON's status.where and the
// line on the terminal; and the exit code of an error.
//
//   ASSIGN_OR_RETURN(auto module, hlo::ParseModuleFile(path), At("parse", _));
//   StageOf(status)        // "parse"
//   ExitCode(status)       // 2
#ifndef PTXLA_DRIVER_STAGE_H_
#define PTXLA_DRIVER_STAGE_H_

#include <string>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"

namespace ptxla::driver {

// Marks an error with its stage, unless it has one already. OK stays OK.
absl::Status At(absl::string_view stage, absl::Status status);
// "" for an error without a stage.
std::string StageOf(const absl::Status& status);

// With the file in front, unless the message says where in it: "m.hlo: no entry
// computation", "m.hlo:5:8: %c = add: ...".
absl::Status InFile(absl::string_view path, const absl::Status& status);

inline constexpr int kExitDone = 0;
inline constexpr int kExitVerdict = 1;      // validate: beyond its limit
inline constexpr int kExitUsage = 2;        // usage or input
inline constexpr int kExitDoesNotFit = 3;   // run
inline constexpr int kExitInternal = 4;     // our bug
inline constexpr int kExitUnsupported = 5;  // valid, not supported
inline constexpr int kExitInterrupted = 130;

int ExitCode(const absl::Status& status);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_STAGE_H_
