// Bundles of the TPU compiler's schedules beside ours: products of 1024^3 in
// ten types, small products, elementwise loops, reductions, fixed costs.
//
// What is compared is the code alone: our grid steps without the
// synchronisation that measurements show and schedules do not
// (policy.step_sync), DMA waits left out on both sides.
//
//   ASSIGN_OR_RETURN(ScheduleCounts c, CompareSchedules("tpu_slots.csv", {}));
//   std::fputs(ScheduleCountsMarkdown(c).c_str(), stdout);
//
// The table has columns chip, topic, quantity, value, unit, n, how.
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_COUNTS_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_COUNTS_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"

namespace ptxla::driver {

struct ScheduleCount {
  std::string group;  // "1024^3", "small products", "elementwise" ...
  std::string name, chip;
  double theirs = 0;
  double ours = 0;      // 0: does not run
  std::string refused;  // why

  // |ours / theirs - 1|; what does not run counts as 1.
  double Error() const;
};

struct ScheduleSummary {
  std::string group, chip;  // "all" stands for every one
  int rows = 0, ran = 0;
  double median = 0, p90 = 0, bias = 0;
};

struct ScheduleCounts {
  std::vector<ScheduleCount> rows;
  std::vector<ScheduleSummary> summaries;  // by group and chip, totals last
  const ScheduleSummary& total() const { return summaries.back(); }
};

struct ScheduleCountOptions {
  std::string prefix;  // only programs whose name begins so
  int threads = 2;
};

// NotFound, InvalidArgument: the table cannot be read.
absl::StatusOr<ScheduleCounts> CompareSchedules(
    const std::string& csv, const ScheduleCountOptions& options);

// The summaries, and (`rows`) a table of programs by chips: theirs, and ours as
// a percentage more or less.
std::string ScheduleCountsMarkdown(const ScheduleCounts& counts, bool rows);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_COUNTS_H_
