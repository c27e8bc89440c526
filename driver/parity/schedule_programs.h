// The small programs whose schedules the TPU compiler's authors of a table of
// bundle counts compiled, by the names of that table: "mm1024_s8" is a product
// of two s8[1024,1024], "u_exp_bf16" a function of one bf16[1024,1024].
//
//   std::string hlo = ScheduleProgram("r_lane_sum_f32");  // "" if not known
#ifndef PTXLA_DRIVER_PARITY_SCHEDULE_PROGRAMS_H_
#define PTXLA_DRIVER_PARITY_SCHEDULE_PROGRAMS_H_

#include <cstdint>
#include <string>

#include "absl/strings/string_view.h"

namespace ptxla::driver {

// HLO text; "" for a name that is no program of this list.
std::string ScheduleProgram(absl::string_view name);

// Elements of the largest array of such a program; 0 if not known.
int64_t ScheduleProgramElements(absl::string_view name);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_PARITY_SCHEDULE_PROGRAMS_H_
