// What an HLO file asks of a chip, before anything is compiled: operators,
// FLOPs, bytes, and a roofline time for each.
//
//   ASSIGN_OR_RETURN(Inspection i, Inspect("module.hlo", chip));
//   i.rows[0].opcode         // the most expensive one
#ifndef PTXLA_DRIVER_INSPECT_H_
#define PTXLA_DRIVER_INSPECT_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/chip_spec.h"

namespace ptxla::driver {

struct InspectedOp {
  std::string opcode;
  int64_t count = 0;  // in the text
  double flops = 0, transcendentals = 0, bytes = 0;
  double roofline_s = 0;      // larger of FLOPs over peak, bytes over bandwidth
  bool unknown_cost = false;  // e.g. a custom call: a lower bound
};

struct Inspection {
  std::string module, entry;
  int64_t computations = 0, instructions = 0;
  int64_t parameters = 0, parameter_bytes = 0, output_bytes = 0;
  int64_t devices = 1;
  bool scheduled = false;
  std::vector<InspectedOp> rows;  // of the entry, most expensive first
  InspectedOp total;
};

// Loops and fusions of the entry count as their opcode, with what they hold.
absl::StatusOr<Inspection> Inspect(const std::string& path,
                                   const chips::ChipSpec& chip);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_INSPECT_H_
