// `ptxla-opt eval`: the values that an HLO module computes.
#ifndef PTXLA_DRIVER_EVALUATE_H_
#define PTXLA_DRIVER_EVALUATE_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/input/module_file.h"

namespace ptxla::driver {

struct EvaluateOptions {
  std::string module;                 // a file, a folder, or "-"
  std::string hlo_module, hlo_stage;  // of a folder (hlo_input.h)
  // .npz with arg0, arg1 …, tuples flattened; other names are not looked at.
  // Empty: those of a snapshot, else seeded random values.
  std::string inputs;
  uint64_t seed = 0;
  bool tpu = false;  // TPU numerics (evaluator.h)
  hlo::ElidedValues elided = hlo::ElidedValues::kKeep;
  std::vector<int64_t> sizes;  // hlo_input.h
  std::string out;  // .npz with out0, out1 …, tuples flattened; empty: none
};

// One line per output: name, shape and the value, cut where it is long.
// InvalidArgument names the array and what the program takes: one that is
// missing, has no place, or has another type or shape.
absl::StatusOr<std::string> EvaluateFile(const EvaluateOptions& options);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_EVALUATE_H_
