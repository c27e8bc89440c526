#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "workloads/models.h"
#include "workloads/spec.h"
#include "workloads/spec_checks.h"

namespace ptxla::workloads {

absl::Status CheckSpec(const WorkloadSpec& spec) {
  RETURN_IF_ERROR(CheckOneOf("phase", spec.phase(), {"train", "prefill"},
                             {"decode", "serve"}));
  RETURN_IF_ERROR(CheckOneOf("dtype", spec.dtype(), {"bf16", "f32"},
                             {"f16", "int8", "fp8"}));
  RETURN_IF_ERROR(CheckOneOf("optimizer", spec.optimizer(), {"adamw", "sgd"},
                             {"adam", "adagrad", "adafactor", "lamb"}));
  if ((spec.global_batch() > 0) == (spec.batch_per_chip() > 0)) {
    return BadField("global_batch",
                    "or batch_per_chip must be positive, one of the two");
  }
  if (spec.dropout() < 0 || spec.dropout() >= 1) {
    return BadField("dropout",
                    absl::StrCat("must be in [0, 1), is ", spec.dropout()));
  }
  ASSIGN_OR_RETURN(const Model* model, FindModel(spec.model()));
  return model->check(spec);
}

}  // namespace ptxla::workloads
