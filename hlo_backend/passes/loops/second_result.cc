#include "hlo_backend/passes/loops/second_result.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/memory/memory_space.h"

namespace ptxla::hlo {
namespace {

bool HasReduce(const Computation& c) {
  for (const Instruction* i : c.instructions()) {
    if (i->opcode() == Opcode::kReduce) return true;
  }
  return false;
}

// An element more of the tuple that the fusion makes: the array at `index`.
void StoreAgain(Instruction* fusion, int64_t index, const Shape& shape) {
  Computation* body = fusion->fused();
  Instruction* root = body->root();
  std::vector<Instruction*> results(root->operands().begin(),
                                    root->operands().end());
  results.push_back(results[index]);
  std::vector<Shape> shapes;
  for (int k = 0; k < fusion->shape().element_count_of_tuple(); ++k) {
    shapes.push_back(fusion->shape().element(k));
  }
  shapes.push_back(shape);
  *fusion->mutable_shape() = Shape::Tuple(shapes);
  body->SetRoot(body->Add(Opcode::kTuple, fusion->shape(), results));
  body->Remove(root);
}

// A fusion of one array makes a tuple of it.
Instruction* NameResult(Instruction* fusion) {
  Computation *c = fusion->parent(), *body = fusion->fused();
  const Shape shape = fusion->shape();
  const std::vector<Instruction*> users(fusion->users().begin(),
                                        fusion->users().end());
  *fusion->mutable_shape() = Shape::Tuple({shape});
  body->SetRoot(body->Add(Opcode::kTuple, fusion->shape(), {body->root()}));
  Instruction* name =
      c->Add(Opcode::kGetTupleElement, shape, {fusion}, TupleIndexAttrs{0});
  for (Instruction* user : users) fusion->ReplaceUseIn(user, name);
  return name;
}

}  // namespace

bool MayStoreTwice(const MemoryPlace& made) {
  const Instruction& kernel = *made.maker;
  if (kernel.opcode() != Opcode::kFusion) {
    return made.index < 0 && kernel.operand_count() > 0 &&
           (kernel.IsElementwise() || kernel.opcode() == Opcode::kDot);
  }
  if (kernel.fusion_kind() != FusionKind::kLoop &&
      kernel.fusion_kind() != FusionKind::kOutput) {
    return false;
  }
  return !HasReduce(*kernel.fused());
}

Instruction* AddSecondResult(const MemoryPlace& made, int space) {
  auto* kernel = const_cast<Instruction*>(made.maker);
  Computation* c = kernel->parent();
  std::vector<Instruction*> order;
  for (Instruction* i : c->instructions()) order.push_back(i);
  const auto at = std::find(order.begin(), order.end(), kernel);
  if (kernel->opcode() != Opcode::kFusion) {
    kernel = c->CreateFusion({kernel}, kernel->opcode() == Opcode::kDot
                                           ? FusionKind::kOutput
                                           : FusionKind::kLoop);
    *at = kernel;
  }
  std::vector<Instruction*> fresh;
  if (!kernel->shape().IsTuple()) fresh.push_back(NameResult(kernel));
  const int64_t index = std::max<int64_t>(made.index, 0);
  Shape shape = kernel->shape().element(static_cast<int>(index));
  SetSpace(&shape, space);
  StoreAgain(kernel, index, shape);
  const int64_t last = kernel->shape().element_count_of_tuple() - 1;
  fresh.push_back(
      c->Add(Opcode::kGetTupleElement, shape, {kernel}, TupleIndexAttrs{last}));
  Instruction* second = fresh.back();
  order.insert(at + 1, fresh.begin(), fresh.end());
  c->Reorder(order);
  return second;
}

}  // namespace ptxla::hlo
