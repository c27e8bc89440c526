// A kernel of a compiled program together with the memory it ran on and the
// values it should give: runs it again alone, on any machine semantics.
//
//   KernelRecorder recorder(compiled, evaluator_options);
//   ... simulate with recorder as the observer ...
//   for (const RecordedKernel& k : recorder.kernels()) k.IsRight(machine,
//   table)
#ifndef PTXLA_TESTS_DRIVER_VERIFICATION_RECORDED_KERNEL_H_
#define PTXLA_TESTS_DRIVER_VERIFICATION_RECORDED_KERNEL_H_

#include <set>
#include <string>
#include <vector>

#include "driver/verification/kernel_check.h"
#include "isa/interpreter.h"
#include "isa/semantics/table.h"

namespace ptxla::driver {

struct RecordedKernel {
  std::string name;
  const isa::Kernel* kernel = nullptr;
  std::vector<std::string> before;  // memory of each argument
  std::vector<int> alias;  // an earlier argument in the same memory; or -1
  std::vector<hlo::Literal> expected;  // of the last arguments
  int bits = 32;
  int64_t cost = 0;  // bundles over all steps, about

  // The results are the expected ones. An error of the machine is not.
  bool IsRight(const isa::MachineModel& machine,
               const isa::SemanticsTable& semantics) const;
};

// Opcodes in a kernel's code.
std::set<isa::Opcode> OpcodesOf(const isa::Kernel& kernel);

// Records every kernel the first time that it runs.
class KernelRecorder : public sim::KernelObserver {
 public:
  KernelRecorder(const hlo::CompiledModule& compiled,
                 const hlo::EvaluatorOptions& options);
  absl::Status Before(const isa::Call& call, sim::ProgramData* data) override;
  absl::Status After(const isa::Call& call, sim::ProgramData* data) override;
  const std::vector<RecordedKernel>& kernels() const { return kernels_; }

 private:
  const hlo::CompiledModule& compiled_;
  KernelCheck check_;
  std::set<int> seen_;
  std::vector<RecordedKernel> kernels_;
};

}  // namespace ptxla::driver

#endif  // PTXLA_TESTS_DRIVER_VERIFICATION_RECORDED_KERNEL_H_
