// Runs passes that a text proto lists, and says what each of them did.
//
//   ASSIGN_OR_RETURN(Pipeline p, Pipeline::Parse(text, "tpu.textproto"));
//   PipelineOptions options;
//   options.verify = true;
//   ASSIGN_OR_RETURN(std::vector<PassReport> reports,
//                    p.Run(module, context, options));
//
// Errors name the pass: "pass fusion: ...".
#ifndef PTXLA_HLO_BACKEND_PASSES_PIPELINE_H_
#define PTXLA_HLO_BACKEND_PASSES_PIPELINE_H_

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "absl/status/status.h"
#include "absl/status/statusor.h"
#include "absl/strings/string_view.h"
#include "hlo_backend/passes/pass.h"
#include "hlo_backend/passes/pipeline.pb.h"

namespace ptxla::hlo {

// One run of one pass.
struct PassReport {
  std::string name;
  std::string group;  // "" outside of until_stable groups
  int round = 0;      // from 0, within the group
  double ms = 0;      // wall time of this process; never part of a result
  bool changed = false;
  int64_t instructions_before = 0, instructions_after = 0;
};

struct PipelineOptions {
  // Check the module before the first pass and after every pass that changed
  // it, and that `changed` is true exactly when the fingerprint differs.
  bool verify = false;
  // Names of passes to leave out. An unknown name is InvalidArgument.
  std::vector<std::string> disabled;
  // Called after each pass that changed the module (and once before the
  // first, with number 0 and name "input"); for dumps to numbered files.
  std::function<absl::Status(int number, const std::string& name,
                             const Module& module)>
      dump;
};

class Pipeline {
 public:
  // NotFound, with the nearest name, when a pass is not known.
  static absl::StatusOr<Pipeline> Create(const PipelineProto& proto);
  // `name` is what errors call the text.
  static absl::StatusOr<Pipeline> Parse(absl::string_view text,
                                        absl::string_view name);
  // A pipeline of these passes, each run once: "cse,dce".
  static absl::StatusOr<Pipeline> FromNames(absl::string_view comma_list);

  const std::string& name() const { return name_; }

  absl::StatusOr<std::vector<PassReport>> Run(
      Module* module, const PassContext& context,
      const PipelineOptions& options = {}) const;

 private:
  struct Step {
    std::string group;
    int max_rounds = 1;
    std::vector<std::shared_ptr<Pass>> passes;
  };
  absl::Status AddStep(std::string group, int max_rounds,
                       const std::vector<std::string>& names);

  std::string name_;
  std::vector<Step> steps_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PIPELINE_H_
