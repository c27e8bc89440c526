// What the report of an HLO run warns of: numbers that stand on something that
// the input does not say.
//
//   WarnOfInput(input, request.elided, &record);
//   if (!WarnOfAssumedLoops(program.schedule, &record)) ...
#ifndef PTXLA_DRIVER_HLO_WARNINGS_H_
#define PTXLA_DRIVER_HLO_WARNINGS_H_

#include <string>

#include "driver/hlo_input.h"
#include "isa/program.h"
#include "record/run_record.pb.h"

namespace ptxla::driver {

// Schedules for other machines, constants without values (taken as
// `elided_values`, "iota" or "zero"), shardings that are not carried out, calls
// of other compilers.
void WarnOfInput(const HloInput& input, const std::string& elided_values,
                 record::RunRecord* record);

// A line for each loop, at any depth, whose trips --trip-count gave; true if
// there is one.
bool WarnOfAssumedLoops(const isa::Schedule& schedule,
                        record::RunRecord* record);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_HLO_WARNINGS_H_
