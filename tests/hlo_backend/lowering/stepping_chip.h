// A chip with one value changed, whose loops are never one step because their
// arrays are small: tests of several steps stay small.
//
//   ASSERT_OK_AND_ASSIGN(const chips::ChipSpec spec,
//                        SteppingChip("v6e", "policy.fusion_tiles", 16));
#ifndef PTXLA_TESTS_HLO_BACKEND_LOWERING_STEPPING_CHIP_H_
#define PTXLA_TESTS_HLO_BACKEND_LOWERING_STEPPING_CHIP_H_

#include <string>

#include "absl/status/statusor.h"
#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "chips/chip_spec.h"

namespace ptxla::lowering {

inline absl::StatusOr<chips::ChipSpec> SteppingChip(const std::string& chip,
                                                    const std::string& key,
                                                    double value) {
  ASSIGN_OR_RETURN(chips::ChipSpec spec, chips::ChipSpec::Load(chip));
  ASSIGN_OR_RETURN(spec, spec.WithValue(key, value));
  for (const char* name : {"single_step_tiles", "single_step_bytes"}) {
    if (!spec.Policy(name)) continue;
    ASSIGN_OR_RETURN(spec, spec.WithValue(absl::StrCat("policy.", name), 0));
  }
  return spec;
}

}  // namespace ptxla::lowering

#endif  // PTXLA_TESTS_HLO_BACKEND_LOWERING_STEPPING_CHIP_H_
