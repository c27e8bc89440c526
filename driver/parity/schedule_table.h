// What the TPU compiler's schedules of small programs hold, read from a table
// with the columns chip, topic, quantity, value, unit, n, how.
//
//   ASSIGN_OR_RETURN(auto rows, ReadScheduleTable("tpu_slots.csv", "mm1024_"));
//   rows[0].program, rows[0].chip, rows[0].theirs  // mm1024_bf16 v2 8,700
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_TABLE_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_TABLE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ptxla::driver {

// Which bundles a row counts: those of all kernels, of a loop's body for each
// 1,024 elements, beside the body in each grid step, of a kernel's entry and
// exit, of the program before its first kernel.
enum class ScheduleMeasure {
  kWholeKernels,
  kBodyPerTile,
  kStep,
  kEntry,
  kPrologue
};

struct ScheduleTableRow {
  std::string group;    // "1024^3", "small products", "elementwise" ...
  std::string program;  // of schedule_programs.h
  std::string part;     // ", step": of a program, what its row is about
  std::string chip;
  double theirs = 0;  // bundles
  ScheduleMeasure measure = ScheduleMeasure::kWholeKernels;
};

// The rows whose program is in schedule_programs.h and begins with `prefix`, by
// program and chip. NotFound, InvalidArgument: the table cannot be read.
absl::StatusOr<std::vector<ScheduleTableRow>> ReadScheduleTable(
    const std::string& csv, const std::string& prefix);

// Cores of a chip that the table's programs were compiled for: one of v4's two,
// which were two devices to that compiler; 0: those of the chip's devices.
int CoresOfScheduleTable(const std::string& chip);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_TABLE_H_
