// Rows of a CSV of published measurements: one kernel each, with the HLO
// program that was timed and what the clock saw. The columns that are read are
// `id, program, timing, target, cores, residency, kernel, time_us, chip`;
// others are facts for people.
//
//   ASSIGN_OR_RETURN(auto rows, ReadMeasuredRows("measured/kernels.csv"));
//   rows[0].program     // "measured/programs/...": relative to the CSV's
//   folder
#ifndef PTXLA_DRIVER_MEASURED_ROWS_H_
#define PTXLA_DRIVER_MEASURED_ROWS_H_

#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"

namespace ptxla::driver {

// What the clock saw.
enum class Timing {
  kDeviceEvent,  // the program on the device, first instruction to last byte
  kChainSlope,   // one iteration of a while of dependent steps: (T(2C)-T(C))/C
  kCopyWait,     // from the start of a copy to the end of the wait for it
  kHostAsync,    // period of calls that nobody waits for, seen by the host
  kHostSync,     // one call and the wait for its result, seen by the host
  kNotRunnable,  // a fact without a program
};
const char* TimingName(Timing timing);  // "device_event"

// Where operands are when the clock starts.
enum class Residency { kHbm, kCmem, kVmem };

struct MeasuredRow {
  std::string id;
  std::string block;  // the id up to its last dash
  std::string chip;   // as the source names it
  std::string program;
  std::string target;  // a slice: "v6e-1"
  Timing timing = Timing::kNotRunnable;
  Residency residency = Residency::kHbm;
  int cores = 0;  // per chip; 0: all of one device
  std::string kernel;
  std::optional<double> time_us;
  int line = 0;
  // The number in the id, for halves of a table.
  int number = 0;

  bool runnable() const {
    return timing != Timing::kNotRunnable && !program.empty() &&
           time_us.has_value();
  }
};

// InvalidArgument names line and column of the table.
absl::StatusOr<std::vector<MeasuredRow>> ReadMeasuredRows(
    const std::string& path);

// Cells of a CSV with quotes; every line ends a row outside of them.
absl::StatusOr<std::vector<std::vector<std::string>>> ParseCsv(
    absl::string_view text);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_MEASURED_ROWS_H_
