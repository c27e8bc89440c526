// The files that XLA writes with --xla_dump_to: which module, which stage.
//
//   module_0003.jit_step.cl_772339112.before_optimizations.txt
//   module_0003.jit_step.after_optimizations.hlo.pb
//
//   FindInDumpFolder("dump", "jit_step", "")   // path of the file to use
//
// Without a stage it is `after_optimizations` if that is a TPU's (its layouts
// have tiles): the real compiler's decisions are then taken as they are. Else
// it is `before_optimizations`.
#ifndef PTXLA_DRIVER_DUMP_FOLDER_H_
#define PTXLA_DRIVER_DUMP_FOLDER_H_

#include <string>

#include "absl/status/statusor.h"

namespace ptxla::driver {

bool IsFolder(const std::string& path);

// InvalidArgument lists the modules, or the stages, that there are.
absl::StatusOr<std::string> FindInDumpFolder(const std::string& folder,
                                             const std::string& module,
                                             const std::string& stage);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_DUMP_FOLDER_H_
