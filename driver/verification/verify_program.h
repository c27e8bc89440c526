// `run --verify`: does the compiled program compute what its HLO means?
//
// The bundles run on seeded inputs (inputs.h) in memory that is NaN at first.
// Every kernel is compared with the evaluator's value of its instruction on the
// same operands, every output with the evaluator's value of the module as it
// was handed in. Where an output is little more than rounding noise, it may be
// as far from the evaluator's value as twice what that is off itself
// (exact_value.h).
//
//   ASSIGN_OR_RETURN(const Verification v,
//                    VerifyProgram(*input, compiled, slice));
//   v.ok(); v.Line();
//   // verify IrToHlo.314: 25 outputs and 41 kernels as evaluated; largest
//   // error 1.2e-05 of 0.01 f32 ({3}), kernels 1.1e-06 of 2e-05 (fusion.7)
#ifndef PTXLA_DRIVER_VERIFICATION_VERIFY_PROGRAM_H_
#define PTXLA_DRIVER_VERIFICATION_VERIFY_PROGRAM_H_

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "chips/topology.h"
#include "driver/verification/kernel_check.h"
#include "driver/verification/output_noise.h"
#include "hlo_backend/compiler/compiler.h"
#include "isa/semantics/table.h"

namespace ptxla::driver {

struct Verification {
  std::string program;
  int bits = 32;  // of the narrowest float that the program computes in
  std::vector<OutputError> outputs;
  int kernels = 0;                         // compared, repetitions included
  KernelError kernel;                      // the largest tolerable error
  std::vector<KernelError> wrong_kernels;  // the first of them
  int wrong_kernel_count = 0;
  std::vector<std::string> skipped;  // kernels without a judgement
  // Unstable sorts whose equal elements came in another order than the
  // evaluator's; outputs may then be others and are not judged.
  std::vector<std::string> ties;

  // The output that is furthest from its tolerance, in its share of it; null
  // if there is none.
  const OutputError* Worst() const;
  bool ok() const;
  // One line: what was compared and the largest errors; or what is wrong, the
  // first kernel first.
  std::string Line() const;
  // A line for each wrong kernel and output, with the elements that differ.
  std::string Details() const;
};

struct VerifyOptions {
  uint64_t seed = 1;
  // One literal per parameter; none: those of inputs.h.
  std::vector<hlo::Literal> arguments;
  // Null: the real ones. A mutant should not be ok().
  const isa::SemanticsTable* semantics = nullptr;
};

// Runs a program once on `arguments`, in memory that is NaN at first, and hands
// its memories to `finish` (may be empty). Errors of the machine are Internal.
absl::Status ExecuteBundles(
    const isa::Program& program, const chips::Slice& slice,
    const std::vector<hlo::Literal>& arguments,
    const isa::InterpreterOptions& interpreter, sim::KernelObserver* observer,
    const std::function<void(sim::ProgramData*)>& finish = {});

// `input`: the module before it was compiled. Unimplemented where the evaluator
// or the interpreter cannot run it (collectives over several devices).
absl::StatusOr<Verification> VerifyProgram(const hlo::Module& input,
                                           const hlo::CompiledModule& compiled,
                                           const chips::Slice& slice,
                                           const VerifyOptions& options = {});

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_VERIFY_PROGRAM_H_
