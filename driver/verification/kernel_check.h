// Judges every kernel of a program by itself: takes its operands from the
// simulated memory before it runs, evaluates its HLO instruction on them, and
// compares with what the bundles leave in memory. So the first wrong kernel has
// a name, and errors do not add up.
//
//   KernelCheck check(compiled, evaluator_options);
//   sim::ProgramDataOptions options;
//   options.observer = &check;
//   ... simulate at fidelity bundle ...
//   check.wrong().front().name
#ifndef PTXLA_DRIVER_VERIFICATION_KERNEL_CHECK_H_
#define PTXLA_DRIVER_VERIFICATION_KERNEL_CHECK_H_

#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "driver/verification/value_error.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "sim/core/program_data.h"

namespace ptxla::driver {

struct KernelError {
  std::string name;   // of the HLO instruction
  int result = 0;     // which array of its result
  hlo::Shape shape;   // of that array
  std::string layer;  // op_name metadata
  ValueError error;
  int bits = 32;  // of the narrowest float that the kernel computes in
  // Of error.worst; integers: 0. Where digits are lost on the way (s (1 - s)
  // near 1, sums near 0), twice the kernel's noise (kernel_noise.h).
  double tolerance = 0;
};

// Bits of the narrowest floats that are made in `i`; 64 if there are none.
int NarrowestFloat(const hlo::Instruction& i);

// An array in memory as a literal; f64 is put together from its halves.
hlo::Literal LiteralAt(const hlo::Shape& shape, const isa::BufferSlice& where,
                       sim::ProgramData* data);

class KernelCheck : public sim::KernelObserver {
 public:
  // `compiled` outlives the check.
  KernelCheck(const hlo::CompiledModule& compiled,
              const hlo::EvaluatorOptions& options);

  absl::Status Before(const isa::Call& call, sim::ProgramData* data) override;
  absl::Status After(const isa::Call& call, sim::ProgramData* data) override;

  // Of the call that runs: its instruction, and the evaluator's value.
  const hlo::Instruction& InstructionOf(const isa::Call& call) const {
    return *calls_.at(&call);
  }
  const absl::StatusOr<hlo::Literal>& expected() const { return expected_; }

  int kernels() const { return kernels_; }  // compared, repetitions included
  // The largest error among the tolerable ones, by its share of its tolerance.
  const KernelError& largest() const { return largest_; }
  // Those beyond their tolerance, in the order of execution; at most 16.
  const std::vector<KernelError>& wrong() const { return wrong_; }
  int wrong_count() const { return wrong_count_; }
  // Unstable sorts that left equal elements in another order than the
  // evaluator's: what is made of them may be anything.
  const std::vector<std::string>& ties() const { return ties_; }
  // Kernels that the evaluator cannot judge (custom calls, estimates).
  const std::vector<std::string>& skipped() const { return skipped_; }

 private:
  void Match(const isa::Schedule& schedule,
             const hlo::Computation& computation);

  // Is what the unstable sort left in memory one of its results, if not the
  // evaluator's?
  bool IsAnotherOrder(const hlo::Instruction& sort,
                      sim::ProgramData* data) const;

  const hlo::EvaluatorOptions options_;
  absl::flat_hash_map<const isa::Call*, const hlo::Instruction*> calls_;
  absl::StatusOr<hlo::Literal> expected_ = hlo::Literal();
  std::vector<hlo::Literal> operands_;    // of the call that runs
  std::vector<isa::BufferSlice> places_;  // of its results' arrays
  int kernels_ = 0;
  KernelError largest_;
  std::vector<KernelError> wrong_;
  int wrong_count_ = 0;
  std::vector<std::string> skipped_, ties_;
};

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_VERIFICATION_KERNEL_CHECK_H_
