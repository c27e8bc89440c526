// Two schedules of one program, kernel by kernel, with what each difference
// costs: ours (here) beside another compiler's (there).
//
//   ScheduleComparison c = CompareKernels(theirs, ours);
//   c.kernels[0].CostPs()   // the largest difference; + : there it takes
//   longer
//
// Kernels that are equal in root opcode (a dot is a convolution, bitcasts say
// nothing), operands and results are the same kernel, arrays compared by type
// and number of elements; those that occur several times are one entry. Of the
// others, those with the same root and results, or with the same results alone,
// are put beside each other: they read something else.
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_COMPARISON_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_COMPARISON_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "driver/parity/timed_schedule.h"

namespace ptxla::driver {

enum class Match { kSame, kSameResult, kOnlyThere, kOnlyHere };
const char* MatchName(Match match);  // "same kernel"

// Of one schedule: equal kernels.
struct KernelGroup {
  std::string name;  // of the first
  std::string root, result;
  int64_t kernels = 0;
  int64_t time_ps = 0;
  int64_t parts = 0;  // kernels of ours that stand for them

  bool TakenApart() const { return parts > kernels; }
};

struct ComparedKernels {
  Match match = Match::kSame;
  KernelGroup there, here;  // kernels = 0: none

  int64_t CostPs() const { return there.time_ps - here.time_ps; }
};

// A sum over kernels of one kind, or over what is no kernel.
struct ComparedSum {
  std::string name;
  int64_t there = 0, here = 0;  // kernels
  int64_t there_ps = 0, here_ps = 0;

  int64_t CostPs() const { return there_ps - here_ps; }
};

struct ScheduleComparison {
  std::vector<ComparedKernels> kernels;  // the largest |CostPs| first
  // By match, then waits and gaps; they sum to the total.
  std::vector<ComparedSum> sums;
  ComparedSum total;
  // Fusions that several kernels of ours stand for.
  int64_t there_taken_apart = 0, here_taken_apart = 0;
  int64_t there_taken_apart_ps = 0;
  int64_t there_peak_bytes = 0, here_peak_bytes = 0;
  // Of our times of their kernels with what their compiler estimated.
  std::optional<double> rank_correlation;
};

ScheduleComparison CompareKernels(const TimedSchedule& there,
                                  const TimedSchedule& here);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_COMPARISON_H_
