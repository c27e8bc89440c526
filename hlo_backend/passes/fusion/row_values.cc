#include "hlo_backend/passes/fusion/row_values.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

// Instructions between a product and what reads the values of rows: ends the
// search in long chains, whose rows stay narrow. ASSUMED.
constexpr int kDeepest = 4;

// Made of a product by elementwise work.
bool IsBehindProduct(const Instruction& i, int depth = 0) {
  if (i.opcode() == Opcode::kDot) return i.shape().rank() == 2;
  if (!i.IsElementwise() || depth == kDeepest) return false;
  return std::any_of(
      i.operands().begin(), i.operands().end(),
      [&](const Instruction* o) { return IsBehindProduct(*o, depth + 1); });
}

bool SpreadsNarrowRows(const Instruction& i) {
  if (i.opcode() != Opcode::kBroadcast || i.shape().rank() != 2 ||
      i.shape().type() != PrimitiveType::kBf16 || i.IsRoot() ||
      HasControlEdges(i)) {
    return false;
  }
  return i.operand(0)->shape().rank() == 1 && i.dimensions()[0] == 0 &&
         std::all_of(i.users().begin(), i.users().end(),
                     [](const Instruction* user) {
                       return user->IsElementwise() && IsBehindProduct(*user);
                     });
}

}  // namespace

absl::StatusOr<bool> RowValuesPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    std::vector<Instruction*> narrow;
    for (Instruction* i : c->PostOrder()) {
      if (SpreadsNarrowRows(*i)) narrow.push_back(i);
    }
    Builder b(c);
    for (Instruction* i : narrow) {
      Instruction* wide = b.Convert(i->operand(0), PrimitiveType::kF32);
      c->Replace(i, b.Convert(b.Broadcast(wide, i->shape().dims(), {0}),
                              PrimitiveType::kBf16));
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
