// A computation prepared for running: instructions in order, which slot each
// value has, and when a value is used for the last time (so that it can be
// changed in place and its memory goes early).
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_PLAN_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_PLAN_H_

#include <memory>
#include <optional>
#include <vector>

#include "hlo_backend/evaluator/elementwise.h"
#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

struct PlanStep {
  struct Use {
    int slot;
    bool last;  // nobody reads the slot after this
  };
  const Instruction* instruction;
  int slot;
  bool used = false;  // somebody reads the result, or it is the root
  // get-tuple-element: nobody else reads this element, nor the whole tuple.
  bool take_element = false;
  absl::InlinedVector<Use, 3> operands;
  std::optional<ElementwiseOp> elementwise;
  // Why it cannot run; only an error if the step is reached.
  absl::Status refusal;
};

struct Plan {
  int slots = 0;
  int root_slot = 0;
  std::vector<PlanStep> steps;
};

PlanStep MakeStep(const Instruction& instruction, int tpu_generation);
Plan MakePlan(const Computation& computation, int tpu_generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_PLAN_H_
