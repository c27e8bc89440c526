// What an HLO file asks of a chip, before anything is simulated: operators,
// FLOPs, bytes and a roofline time for each, and what the compiler makes of
// them.
//
//   ASSIGN_OR_RETURN(Inspection i, Inspect("module.hlo", chip));
//   i.rows[0].opcode           // the most expensive kind
//   i.instructions[0]          // the most expensive instruction
//   i.refused[0].reason        // why `run` stops
#ifndef PTXLA_DRIVER_INSPECT_H_
#define PTXLA_DRIVER_INSPECT_H_

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/chip_spec.h"
#include "chips/topology.h"
#include "driver/hlo_input.h"
#include "driver/op_coverage.h"

namespace ptxla::driver {

struct InspectOptions {
  HloInputOptions input;
  // Costs by XLA's own rules: loops count once, an all-reduce adds once per
  // element, types below a byte take one (hlo::CostOptions::LikeXla).
  bool like_xla = false;
  // Compile, to see what becomes of each instruction.
  bool compile = true;
};

struct InspectedCost {
  double flops = 0, transcendentals = 0, bytes = 0;
  // Sum over instructions of the larger of FLOPs over peak and bytes over
  // bandwidth, times how often they run.
  double roofline_s = 0;
  bool unknown_cost = false;  // e.g. a custom call: a lower bound
};

// All instructions of one opcode that run on their own: of the entry, bodies of
// loops, branches, called computations. A fusion is one.
struct InspectedOp : InspectedCost {
  std::string opcode;
  std::string target;  // of custom calls
  int64_t count = 0;   // in the text
  // How many of them become a kernel (or part of one), an entry of the schedule
  // (collective, copy), are refused, or leave nothing to do; the others were
  // merged with others or rewritten.
  int64_t kernels = 0, scheduled = 0, refused = 0, free = 0;
};

struct InspectedInstruction : InspectedCost {
  std::string name, opcode, shape;
  int line = 0;                      // of the file; 0: it has none (protos)
  std::string layer;                 // op_name of its metadata
  std::string source;                // "model.py:12"
  double times = 1;                  // iterations of the loops around it
  std::string bound;                 // "mxu", "vpu", "hbm"
  std::optional<OpSupport> support;  // none: merged or rewritten
};

// A kernel that cannot be made.
struct RefusedOp {
  std::string name, opcode;
  std::string reason;       // without its name
  std::string instruction;  // the first of the file in it; may be empty
  int line = 0;             // of that
  int64_t calls = 0;
};

struct Inspection {
  std::string path, format;
  std::string module, entry;
  int64_t computations = 0, instruction_count = 0;
  int64_t parameters = 0, parameter_bytes = 0, output_bytes = 0;
  int64_t devices = 1;
  bool scheduled = false;
  std::vector<InspectedOp> rows;                   // most expensive first
  std::vector<InspectedInstruction> instructions;  // most expensive first
  InspectedOp total;

  bool compiled = false;
  std::string slice;  // that it was compiled for: the smallest that it fits on
  int64_t kernels = 0, distinct_kernels = 0;
  std::vector<RefusedOp> refused;
  std::vector<std::string> unknown_loops;  // "%while.3 (line 12)"
  int64_t elided_constants = 0;
  std::vector<int64_t> sizes;         // that were given for open dimensions
  std::vector<std::string> warnings;  // as `run` gives them
  std::string blocked;  // what stops `run` whatever the options; "": nothing
};

absl::StatusOr<Inspection> Inspect(const std::string& path,
                                   const chips::ChipSpec& chip,
                                   const InspectOptions& options = {});

// The smallest slice of the chip with so many devices, or its largest.
absl::StatusOr<chips::Slice> SmallestSlice(const chips::ChipSpec& chip,
                                           int64_t devices);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_INSPECT_H_
