#include "hlo_backend/passes/expanders/counter_loop.h"

#include "absl/strings/str_cat.h"

namespace ptxla::hlo {

Instruction* CounterLoop(
    Builder& b, absl::string_view name, const std::vector<Instruction*>& start,
    int64_t trips,
    const std::function<std::vector<Instruction*>(
        Builder&, Instruction* step, const std::vector<Instruction*>&)>& body) {
  Module* module = b.computation()->module();
  std::vector<Instruction*> state = {b.Constant(Literal::Scalar<int32_t>(0))};
  state.insert(state.end(), start.begin(), start.end());
  Instruction* init = b.Tuple(state);
  Builder condition(module->AddComputation(absl::StrCat(name, "_condition")));
  Instruction* at =
      condition.GetTupleElement(condition.Parameter(0, init->shape()), 0);
  condition.computation()->SetRoot(condition.Compare(
      at,
      condition.Constant(Literal::Scalar<int32_t>(static_cast<int32_t>(trips))),
      CompareDirection::kLt));
  Builder inside(module->AddComputation(absl::StrCat(name, "_body")));
  Instruction* all = inside.Parameter(0, init->shape());
  Instruction* step = inside.GetTupleElement(all, 0);
  std::vector<Instruction*> values;
  for (size_t k = 0; k < start.size(); ++k) {
    values.push_back(inside.GetTupleElement(all, static_cast<int>(k) + 1));
  }
  std::vector<Instruction*> next = body(inside, step, values);
  next.insert(next.begin(),
              inside.Add(step, inside.Constant(Literal::Scalar<int32_t>(1))));
  inside.computation()->SetRoot(inside.Tuple(next));
  return b.While(init, condition.computation(), inside.computation());
}

}  // namespace ptxla::hlo
