// --dump-to: every stage of a run as a numbered file, in the order in which it
// came to be.
//
//   000.input.hlo
//   001.SyncTensorsGraph.12.lowered.hlo
//   002.SyncTensorsGraph.12.cse.hlo
//   040.SyncTensorsGraph.12.program.tpuasm
//   041.SyncTensorsGraph.12.trace.textproto
//
// A folder holds the stages of one run: those of an earlier one are removed,
// other files stay.
#ifndef PTXLA_DRIVER_DUMP_H_
#define PTXLA_DRIVER_DUMP_H_

#include <string>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla::driver {

class DumpWriter {
 public:
  // Writes nothing.
  DumpWriter() = default;
  // Makes the folder, or clears it of an earlier dump. InvalidArgument if that
  // fails.
  static absl::StatusOr<DumpWriter> Create(const std::string& folder);

  bool enabled() const { return !folder_.empty(); }
  // `name` is "cse.hlo"; characters that a file name cannot have become '_'.
  absl::Status Write(absl::string_view name, absl::string_view text);

 private:
  std::string folder_;
  int next_ = 0;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_DUMP_H_
