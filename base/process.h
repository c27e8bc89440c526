// Another program, run to its end.
//
//   ASSIGN_OR_RETURN(ProcessResult r, RunProcess({"python3", "-V"}));
//   r.exit_code   // 0
//   r.output      // "Python 3.11.2\n"
#ifndef PTXLA_BASE_PROCESS_H_
#define PTXLA_BASE_PROCESS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ptxla {

struct ProcessResult {
  int exit_code = 0;  // 128 + the signal that ended it
  std::string output, errors;
};

// `command[0]` is looked for in PATH; standard input is empty. NotFound if
// there is no such program.
absl::StatusOr<ProcessResult> RunProcess(
    const std::vector<std::string>& command);

}  // namespace ptxla

#endif  // PTXLA_BASE_PROCESS_H_
