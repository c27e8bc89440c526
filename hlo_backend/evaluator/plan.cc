#include "hlo_backend/evaluator/plan.h"

#include <climits>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace ptxla::hlo {
namespace {

// Every user of the tuple is a get-tuple-element.
bool OnlyTakenApart(const Instruction& tuple) {
  if (tuple.IsRoot()) return false;
  for (const Instruction* user : tuple.users()) {
    if (user->opcode() != Opcode::kGetTupleElement) return false;
  }
  return true;
}

}  // namespace

PlanStep MakeStep(const Instruction& i, int tpu_generation) {
  PlanStep step;
  step.instruction = &i;
  if (i.IsElementwise() && i.opcode() != Opcode::kCopy &&
      i.opcode() != Opcode::kBitcastConvert &&
      i.opcode() != Opcode::kStochasticConvert) {
    auto op = ElementwiseOp::Create(i, tpu_generation);
    if (op.ok()) {
      step.elementwise = *std::move(op);
    } else {
      step.refusal = op.status();
    }
  }
  return step;
}

Plan MakePlan(const Computation& computation, int tpu_generation) {
  Plan plan;
  absl::flat_hash_map<const Instruction*, int> slots;
  std::vector<int> last_step;
  const std::vector<Instruction*> order = computation.PostOrder();
  for (const Instruction* i : order) {
    PlanStep step = MakeStep(*i, tpu_generation);
    step.slot = plan.slots++;
    slots[i] = step.slot;
    last_step.push_back(-1);
    for (const Instruction* operand : i->operands()) {
      const int slot = slots.at(operand);
      step.operands.push_back({slot, false});
      last_step[slot] = static_cast<int>(plan.steps.size());
    }
    plan.steps.push_back(std::move(step));
  }
  plan.root_slot = slots.at(computation.root());
  last_step[plan.root_slot] = INT_MAX;
  absl::flat_hash_map<std::pair<const Instruction*, int64_t>, size_t> taken;
  for (size_t s = 0; s < plan.steps.size(); ++s) {
    PlanStep& step = plan.steps[s];
    step.used = last_step[step.slot] >= 0;
    // The last mention within the step; earlier ones of the same value copy.
    for (size_t k = 0; k < step.operands.size(); ++k) {
      const int slot = step.operands[k].slot;
      bool later = false;
      for (size_t j = k + 1; j < step.operands.size(); ++j) {
        later = later || step.operands[j].slot == slot;
      }
      step.operands[k].last = !later && last_step[slot] == static_cast<int>(s);
    }
    const Instruction& i = *step.instruction;
    if (i.opcode() == Opcode::kGetTupleElement &&
        OnlyTakenApart(*i.operand(0))) {
      const auto key = std::make_pair(i.operand(0), i.tuple_index());
      if (const auto it = taken.find(key); it != taken.end()) {
        plan.steps[it->second].take_element = false;
      }
      taken[key] = s;
      step.take_element = true;
    }
  }
  return plan;
}

}  // namespace ptxla::hlo
