// Values for constants whose own were left out when they were printed.
//
//   FillElided(module, ElidedValues::kIota);   // constant({...}): 0, 1, 2 ...
#ifndef PTXLA_HLO_BACKEND_INPUT_ELIDED_VALUES_H_
#define PTXLA_HLO_BACKEND_INPUT_ELIDED_VALUES_H_

#include <cstdint>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// Elided constants (`constant({...})`) get values: 0, 1, 2 ... in row-major
// order, or zeros. Returns how many there were.
enum class ElidedValues { kKeep, kIota, kZero };
absl::StatusOr<ElidedValues> ParseElidedValues(absl::string_view name);
int64_t FillElided(Module* module, ElidedValues values);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_INPUT_ELIDED_VALUES_H_
