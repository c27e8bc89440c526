// Rules of the compiler that are numbers, where a chip file does not have to
// have its own: data/compiler.textproto says what holds for every chip, with
// unit, source and confidence; "policy.NAME" of a chip file goes before it.
//
//   CompilerPolicy(chip, "product_step_bundles")   // v6e: 13,800 bundles
//   CompilerPolicy("reshape_gain")                 // 2, whatever the chip
//
// Values are in the base units of chips/parameters.h. A name that no file
// has is a slip in the source and ends the program, asked here or of
// ChipSpec::Policy. tests/architecture/chip_keys_test.cc compares the names
// that are read with those that are defined.
#ifndef PTXLA_CHIPS_COMPILER_POLICY_H_
#define PTXLA_CHIPS_COMPILER_POLICY_H_

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/strings/string_view.h"
#include "chips/chip_spec.h"
#include "chips/parameters.h"

namespace ptxla::chips {

double CompilerPolicy(const ChipSpec& chip, absl::string_view name);
// For what is decided without a chip: that of every chip.
double CompilerPolicy(absl::string_view name);

// The same of counts and bytes.
inline int64_t WholePolicy(const ChipSpec& chip, absl::string_view name) {
  return static_cast<int64_t>(CompilerPolicy(chip, name));
}
inline int64_t WholePolicy(absl::string_view name) {
  return static_cast<int64_t>(CompilerPolicy(name));
}

// The numbers of data/compiler.textproto, in its order.
const std::vector<Parameter>& CompilerPolicies();

// Names, without "policy.", that a built-in chip or data/compiler.textproto
// has.
const std::set<std::string, std::less<>>& PolicyNames();
// InvalidArgument with "did you mean" where the chip has another: no code would
// read it.
absl::Status CheckPolicyNames(const ChipSpec& chip);

// The longest straight code, in bundles, that one grid step of a product or
// convolution may have.
inline int64_t ProductStepBundles(const ChipSpec& chip) {
  return WholePolicy(chip, "product_step_bundles");
}

}  // namespace ptxla::chips

#endif  // PTXLA_CHIPS_COMPILER_POLICY_H_
