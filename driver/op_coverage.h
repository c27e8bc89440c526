// `ptxla-sim ops`: how far each HLO opcode gets, found out by trying. A sample
// instruction of the opcode (data/op_samples.txt, or made from its arity) is
// parsed and verified, evaluated on random values, and compiled; nothing here
// is a list of promises.
//
//   ASSIGN_OR_RETURN(auto ops, OpCoverage(chip_name));
//   ops[3].name == "add" && ops[3].tpu == OpSupport::kKernel
#ifndef PTXLA_DRIVER_OP_COVERAGE_H_
#define PTXLA_DRIVER_OP_COVERAGE_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/opcode.h"

namespace ptxla::driver {

// What becomes of an instruction on the simulated TPU.
enum class OpSupport {
  kKernel,    // a kernel of bundles computes it
  kSchedule,  // an entry of the schedule: collective, copy, loop
  kFree,      // nothing to do: layout, constant, plumbing
  kEstimate,  // no kernel; a roofline time with --unknown-ops=estimate
  kRefused,   // not even that
};
const char* OpSupportName(OpSupport support);  // "kernel"

struct OpTrial {
  std::string name;        // "all-reduce"
  std::string sample;      // the instruction that was tried
  std::string read_error;  // why the sample cannot be read; "": it can
  std::string evaluate_error;
  OpSupport tpu = OpSupport::kRefused;
  std::string tpu_error;  // of kEstimate and kRefused
  // The pass behind which no such instruction is left; "": it stays.
  std::string expanded_by;
  // What runs instead or for it: opcodes of the schedule, in order of names.
  std::vector<std::string> becomes;
  bool costed = false;  // the cost analysis has a rule for it
};

// The module that is tried for an opcode. NotFound: nobody wrote a sample.
absl::StatusOr<std::string> OpSampleText(hlo::Opcode opcode);

// All opcodes in the order of their names, or the one called `name` (NotFound
// with "did you mean"). Compiled for eight chips of `chip`.
absl::StatusOr<std::vector<OpTrial>> OpCoverage(const std::string& chip,
                                                absl::string_view name = "");

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_OP_COVERAGE_H_
