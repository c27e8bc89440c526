// An HLO module from where the user points, in any format (HLO text, protos,
// StableHLO, gzip, a folder of XLA's dumps): read, parsed, verified. Errors are
// marked with their stage and name file, line and column.
#ifndef PTXLA_DRIVER_HLO_INPUT_H_
#define PTXLA_DRIVER_HLO_INPUT_H_

#include <memory>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/input/module_file.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::driver {

struct HloInput {
  std::unique_ptr<hlo::Module> module;
  std::string text;  // of HLO text, as it was read; else empty
  std::string hash;  // of the bytes of the file
  hlo::FileFormat format = hlo::FileFormat::kUnknown;
  std::vector<hlo::Literal> arguments;  // of a snapshot
  std::string path;                     // the file that was read
  int64_t filled_constants = 0;         // elided ones that got values
};

struct HloInputOptions {
  // What elided constants become.
  hlo::ElidedValues elided = hlo::ElidedValues::kKeep;
  // Of a folder: part of the name of the module, and the stage
  // (dump_folder.h). Empty: the only one; the best one. Of a file an error.
  std::string module, stage;
  // Of the open dimensions of StableHLO arguments (module_file.h).
  std::vector<int64_t> sizes;
  // Whether dimensions of a size that nothing says (f32[?,16]) may stay: they
  // can be written in another format, not counted, compiled or evaluated.
  bool allow_unknown_sizes = false;
};

// A file, a folder, or "-" for standard input.
absl::StatusOr<HloInput> ReadHlo(const std::string& path,
                                 const HloInputOptions& options = {});

// All modules of a folder (ListDumpFolder), or the one of a file. `notes` gets
// a sentence for each module of a folder: which stage of it is used, and why.
absl::StatusOr<std::vector<HloInput>> ReadHloModules(
    const std::string& path, const HloInputOptions& options,
    std::vector<std::string>* notes);

// The same from bytes that errors call `name`.
absl::StatusOr<HloInput> ReadHloBytes(std::string bytes,
                                      const std::string& name,
                                      const HloInputOptions& options = {});

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_HLO_INPUT_H_
