// The programs of tests/data/frameworks with their inputs and what a framework
// computed for them.
//
//   NAME.npz with NAME.mlir, NAME.hlo, NAME.pb ...   one program in several
//       forms (tests/tools/make_framework_cases.py, make_torch_cases.py)
//   hlo_cases.txt, hlo_cases.npz                     HLO that XLA's CPU backend
//       ran (tests/tools/make_evaluator_cases.py)
#ifndef PTXLA_TESTS_HLO_BACKEND_EVALUATOR_FIXTURES_H_
#define PTXLA_TESTS_HLO_BACKEND_EVALUATOR_FIXTURES_H_

#include <cstdint>
#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "hlo_backend/ir/literal.h"

namespace ptxla::hlo {

struct Fixture {
  struct Form {
    std::string file;  // its name, for messages
    std::string bytes;
  };
  std::string name;
  std::vector<Form> forms;
  // Of each device.
  std::vector<std::vector<Literal>> arguments, outputs;
  int64_t replicas = 1, partitions = 1;
  // Error of floats, relative to the largest magnitude; negative: that of the
  // type (ToleranceOf). Integers are equal.
  double tolerance = -1;
};

// source_folder: PTXLA_SOURCE_DIR.
absl::StatusOr<std::vector<Fixture>> ReadHloCases(
    const std::string& source_folder);
absl::StatusOr<std::vector<Fixture>> ReadFrameworkPrograms(
    const std::string& source_folder);

// What two right implementations differ by after a few operations: 2e-5 for
// f32, 1e-11 for f64, and some units in the last place for what is narrower.
double ToleranceOf(PrimitiveType type);

}  // namespace ptxla::hlo

#endif  // PTXLA_TESTS_HLO_BACKEND_EVALUATOR_FIXTURES_H_
