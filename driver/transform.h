// Any stretch of the chain as text to text: what ptxla-opt does.
//
//   TransformOptions o;
//   o.from = Stage::kHlo;
//   o.to = Stage::kTpuasm;
//   o.topology = "v5e-1";
//   ASSIGN_OR_RETURN(std::string asm_text, Transform(hlo_text, "a.hlo", o));
//
// Stages: lazy (a traced graph), hlo (as it came), scheduled (after the TPU
// pipeline), tpuasm (the program), trace (what the simulator made of it). A
// stage to itself parses, checks and prints. HLO is read in any format, and
// written in the one that is asked for.
#ifndef PTXLA_DRIVER_TRANSFORM_H_
#define PTXLA_DRIVER_TRANSFORM_H_

#include <string>
#include <vector>

#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/input/elided_values.h"
#include "hlo_backend/input/module_file.h"

namespace ptxla::driver {

enum class Stage { kLazy, kHlo, kScheduled, kTpuasm, kTrace };
const char* StageName(Stage stage);  // "hlo"
// InvalidArgument with "did you mean" and the names that exist.
absl::StatusOr<Stage> ParseStage(absl::string_view name);

struct TransformOptions {
  Stage from = Stage::kHlo;
  Stage to = Stage::kHlo;
  std::string topology = "v5e-1";
  std::string fidelity = "kernel";
  // hlo to hlo: these passes in this order, "cse,dce"; empty: none.
  std::string passes;
  std::vector<std::string> disabled_passes;  // of the TPU pipeline
  // How a module is written: HLO text or one of the protos.
  hlo::FileFormat format = hlo::FileFormat::kHloText;
  hlo::ElidedValues elided = hlo::ElidedValues::kKeep;
  std::vector<int64_t> sizes;  // hlo_input.h
  bool estimate_unknown_ops = false;
  int64_t assumed_trip_count = 0;  // 0: loops that depend on data are refused
};

// `name` is what errors call the input. InvalidArgument for a stretch that
// goes backwards.
absl::StatusOr<std::string> Transform(const std::string& text,
                                      const std::string& name,
                                      const TransformOptions& options);

}  // namespace ptxla::driver

#endif  // PTXLA_DRIVER_TRANSFORM_H_
