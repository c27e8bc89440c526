#include "hlo_backend/passes/loops/loop_transposes.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/in_order.h"
#include "hlo_backend/passes/layout/transpose_mover.h"
#include "hlo_backend/passes/loops/loop_elements.h"

namespace ptxla::hlo {
namespace {

DimVector OrderOfTranspose(const Instruction& i) {
  return DimVector(i.dimensions().begin(), i.dimensions().end());
}

// In what order the body has element k; empty: it does not turn it.
DimVector OrderInside(const Instruction& loop, int k) {
  const Computation& body = *loop.while_body();
  const Instruction& next = *body.root()->operand(k);
  if (next.opcode() != Opcode::kTranspose || next.shape().has_layout() ||
      !ElementsOf(*loop.while_condition()->parameter(0), k).empty()) {
    return {};
  }
  const DimVector order = Inverse(OrderOfTranspose(next));
  bool read = false;
  for (const Instruction* value : ElementsOf(*body.parameter(0), k)) {
    for (const Instruction* user : value->users()) {
      if (user->opcode() != Opcode::kTranspose ||
          OrderOfTranspose(*user) != order) {
        return {};
      }
      read = true;
    }
  }
  return read ? order : DimVector();
}

void Turn(Instruction* loop, int k, const DimVector& order) {
  Computation *c = loop->parent(), *body = loop->while_body();
  Instruction *start = loop->operand(0), *next = body->root();
  const Shape turned =
      Shape::Array(loop->shape().element(k).type(),
                   Permuted(loop->shape().element(k).dims(), order));
  Builder b(c);
  b.set_metadata(start->operand(k)->shared_metadata());
  start->ReplaceOperand(k, InOrder(b, start->operand(k), order));
  next->ReplaceOperand(k, next->operand(k)->operand(0));
  for (Instruction* tuple : {start, loop, body->parameter(0),
                             loop->while_condition()->parameter(0), next}) {
    *tuple->mutable_shape()->mutable_element(k) = turned;
  }
  for (Instruction* value : ElementsOf(*body->parameter(0), k)) {
    *value->mutable_shape() = turned;
    const std::vector<Instruction*> users(value->users().begin(),
                                          value->users().end());
    for (Instruction* user : users) body->Replace(user, value);
  }
  for (Instruction* value : ElementsOf(*loop, k)) {
    const std::vector<Instruction*> users(value->users().begin(),
                                          value->users().end());
    const bool is_root = value->IsRoot();
    *value->mutable_shape() = turned;
    Instruction* back = b.Transpose(value, Inverse(order));
    for (Instruction* user : users) value->ReplaceUseIn(user, back);
    if (is_root) c->SetRoot(back);
  }
}

}  // namespace

absl::StatusOr<bool> LoopTransposesPass::Run(Module* module,
                                             const PassContext& context) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* loop : PlainLoopsIn(*c)) {
      bool here = false;
      for (int k = 0; k < loop->operand(0)->operand_count(); ++k) {
        const DimVector order = OrderInside(*loop, k);
        if (order.empty()) continue;
        Turn(loop, k, order);
        here = true;
      }
      if (here) loop->while_body()->RemoveDead();
      changed |= here;
    }
  }
  if (changed)
    RETURN_IF_ERROR(TransposeMoverPass().Run(module, context).status());
  return changed;
}

}  // namespace ptxla::hlo
