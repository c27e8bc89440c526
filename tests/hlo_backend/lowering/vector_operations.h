// Vector operations that a kernel takes for every 1,024 elements.
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_VECTOR_OPERATIONS_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_VECTOR_OPERATIONS_H_

#include <string>

#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {

// -1: no kernel.
inline double VectorOperations(const std::string& program,
                               const std::string& chip, double elements) {
  HarnessOptions options;
  options.chip = chip;
  const auto kernel = KernelOf(program, options);
  const auto spec = chips::ChipSpec::Load(chip);
  EXPECT_OK(kernel.status()) << chip;
  EXPECT_OK(spec.status()) << chip;
  if (!kernel.ok() || !spec.ok()) return -1;
  const auto profile = isa::ProfileCode(kernel->step, isa::FromChipSpec(*spec));
  return static_cast<double>(
             profile.slot_uses[static_cast<int>(isa::Slot::kVector)]) *
         static_cast<double>(kernel->NumSteps()) / (elements / 1024);
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_VECTOR_OPERATIONS_H_
