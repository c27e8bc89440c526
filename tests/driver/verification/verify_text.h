// Compiles HLO text for a slice and verifies it.
#ifndef PTXLA_TESTS_DRIVER_VERIFICATION_VERIFY_TEXT_H_
#define PTXLA_TESTS_DRIVER_VERIFICATION_VERIFY_TEXT_H_

#include <memory>
#include <string>
#include <utility>

#include "absl/strings/string_view.h"
#include "base/status.h"
#include "chips/topology.h"
#include "driver/verification/verify_program.h"
#include "hlo_backend/ir/parser.h"

namespace ptxla::driver {

inline absl::StatusOr<Verification> VerifyModule(
    std::unique_ptr<hlo::Module> module,
    const std::string& slice_name = "v6e-1",
    const VerifyOptions& options = {}) {
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice(slice_name));
  const std::unique_ptr<hlo::Module> input = module->Clone();
  ASSIGN_OR_RETURN(const hlo::CompiledModule compiled,
                   hlo::Compile(std::move(module), slice.chip, slice.topology));
  return VerifyProgram(*input, compiled, slice, options);
}

inline absl::StatusOr<Verification> VerifyText(
    absl::string_view text, const std::string& slice_name = "v6e-1",
    const VerifyOptions& options = {}) {
  ASSIGN_OR_RETURN(std::unique_ptr<hlo::Module> module, hlo::ParseModule(text));
  return VerifyModule(std::move(module), slice_name, options);
}

}  // namespace ptxla::driver

#endif  // PTXLA_TESTS_DRIVER_VERIFICATION_VERIFY_TEXT_H_
