// How an inspection is shown: a table for people, JSON for programs.
//
//   InspectionText(*inspection, chip, /*top=*/12)
#ifndef PTXLA_TOOLS_INSPECT_REPORT_H_
#define PTXLA_TOOLS_INSPECT_REPORT_H_

#include <string>

#include "chips/chip_spec.h"
#include "driver/inspect.h"

namespace ptxla::tools {

// With the `top` most expensive instructions.
std::string InspectionText(const driver::Inspection& inspection,
                           const chips::ChipSpec& chip, int top);

// All of them; costs in FLOP, bytes and seconds.
std::string InspectionJson(const driver::Inspection& inspection,
                           const chips::ChipSpec& chip);

}  // namespace ptxla::tools

#endif  // PTXLA_TOOLS_INSPECT_REPORT_H_
