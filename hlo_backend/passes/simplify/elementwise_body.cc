#include "hlo_backend/passes/simplify/elementwise_body.h"

#include "absl/container/flat_hash_map.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

bool CanApplyElementwise(const Computation& body) {
  for (const Instruction* i : body.instructions()) {
    const bool leaf = i->opcode() == Opcode::kParameter ||
                      (i->IsConstant() && i->shape().IsScalar());
    const bool results = i == body.root() && i->opcode() == Opcode::kTuple;
    if (!leaf && !results && !i->IsElementwise()) return false;
  }
  return true;
}

std::vector<Instruction*> ApplyElementwise(
    const Computation& body, absl::Span<Instruction* const> operands,
    absl::Span<const int64_t> dims, Computation* c) {
  Builder b(c);
  absl::flat_hash_map<const Instruction*, Instruction*> values;
  for (Instruction* i : body.PostOrder()) {
    if (i->opcode() == Opcode::kParameter) {
      values[i] = operands[i->parameter_number()];
      continue;
    }
    if (i->IsConstant()) {
      values[i] = b.BroadcastScalar(b.Constant(i->literal()), dims);
      continue;
    }
    std::vector<Instruction*> inputs;
    for (const Instruction* o : i->operands()) inputs.push_back(values[o]);
    if (i->opcode() == Opcode::kTuple) return inputs;
    values[i] = c->AddLike(*i, Shape::Array(i->shape().type(), dims), inputs);
  }
  return {values[body.root()]};
}

}  // namespace ptxla::hlo
