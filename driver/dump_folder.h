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
#include <vector>

#include "absl/status/statusor.h"

namespace ptxla::driver {

bool IsFolder(const std::string& path);

// One module of a folder, and the file of it that is used.
struct DumpedModule {
  std::string module;  // "module_0003.jit_step"
  std::string stage;   // "before_optimizations"
  std::string path;
  std::vector<std::string> stages;  // all that there are
  // Why this stage: "a TPU's: taken as it was compiled".
  std::string reason;
};

// Every module whose name holds `module`, in the order of their names.
// InvalidArgument: there is none, or one of them has no such stage.
absl::StatusOr<std::vector<DumpedModule>> ListDumpFolder(
    const std::string& folder, const std::string& module,
    const std::string& stage);

// The file of the only module. InvalidArgument lists the modules, or the
// stages, that there are.
absl::StatusOr<std::string> FindInDumpFolder(const std::string& folder,
                                             const std::string& module,
                                             const std::string& stage);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_DUMP_FOLDER_H_
