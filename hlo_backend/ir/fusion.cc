// Wrapping instructions into a fusion, and the way back.
#include <algorithm>

#include "absl/container/flat_hash_set.h"
#include "base/check.h"
#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {
namespace {

using InstructionMap = absl::flat_hash_map<const Instruction*, Instruction*>;

// The group with operands before users.
std::vector<Instruction*> InOrder(absl::Span<Instruction* const> group) {
  const absl::flat_hash_set<Instruction*> members(group.begin(), group.end());
  absl::flat_hash_set<Instruction*> done;
  std::vector<Instruction*> order, stack;
  for (Instruction* start : group) {
    stack.push_back(start);
    while (!stack.empty()) {
      Instruction* i = stack.back();
      if (done.contains(i)) {
        stack.pop_back();
        continue;
      }
      bool ready = true;
      for (Instruction* operand : i->operands()) {
        if (members.contains(operand) && !done.contains(operand)) {
          stack.push_back(operand);
          ready = false;
        }
      }
      if (!ready) continue;
      stack.pop_back();
      done.insert(i);
      order.push_back(i);
    }
  }
  return order;
}

}  // namespace

Instruction* Computation::CreateFusion(absl::Span<Instruction* const> group,
                                       FusionKind kind,
                                       absl::string_view name) {
  CHECK(!group.empty());
  const std::vector<Instruction*> order = InOrder(group);
  const absl::flat_hash_set<const Instruction*> members(order.begin(),
                                                        order.end());
  Computation* body =
      module_->AddComputation(std::string(name) + "_computation");
  InstructionMap inside;
  std::vector<Instruction*> operands, results;
  std::vector<Instruction*> mapped;
  for (Instruction* i : order) {
    CHECK(i->parent() == this && i->opcode() != Opcode::kParameter);
    mapped.clear();
    for (Instruction* operand : i->operands()) {
      auto [it, is_new] = inside.try_emplace(operand, nullptr);
      if (is_new) {
        CHECK(!members.contains(operand));
        const int64_t number = static_cast<int64_t>(operands.size());
        it->second = body->AddParameter(number, operand->shape());
        operands.push_back(operand);
      }
      mapped.push_back(it->second);
    }
    inside[i] = body->AddLike(*i, i->shape(), mapped);
    const bool used_outside =
        i->IsRoot() ||
        std::any_of(i->users().begin(), i->users().end(),
                    [&](Instruction* u) { return !members.contains(u); });
    if (used_outside) results.push_back(i);
  }
  CHECK(!results.empty()) << "nothing outside uses the fusion";
  if (kind == FusionKind::kOutput) {
    // What a product's rows reduce to comes first, as TPU compilers have it.
    std::stable_partition(
        results.begin(), results.end(),
        [](const Instruction* r) { return r->opcode() == Opcode::kReduce; });
  }

  Shape shape = results[0]->shape();
  Instruction* root = inside[results[0]];
  if (results.size() > 1) {
    std::vector<Shape> shapes;
    std::vector<Instruction*> elements;
    for (Instruction* r : results) {
      shapes.push_back(r->shape());
      elements.push_back(inside[r]);
    }
    shape = Shape::Tuple(std::move(shapes));
    root = body->Add(Opcode::kTuple, shape, elements);
  }
  body->SetRoot(root);
  Instruction* fusion = Add(Opcode::kFusion, shape, operands,
                            FusionAttrs{kind, {}}, {body}, name);
  fusion->metadata_ = results.back()->metadata_;

  for (size_t n = 0; n < results.size(); ++n) {
    Instruction* value = fusion;
    if (results.size() > 1) {
      value = Add(Opcode::kGetTupleElement, results[n]->shape(), {fusion},
                  TupleIndexAttrs{static_cast<int64_t>(n)});
      value->metadata_ = results[n]->metadata_;
    }
    // Uses inside the group die with it.
    const std::vector<Instruction*> users(results[n]->users().begin(),
                                          results[n]->users().end());
    for (Instruction* user : users) {
      if (!members.contains(user)) results[n]->ReplaceUseIn(user, value);
    }
    if (results[n]->IsRoot()) SetRoot(value);
  }
  for (auto it = order.rbegin(); it != order.rend(); ++it) {
    (*it)->MoveControlDependenciesTo(fusion);
    Remove(*it);
  }
  return fusion;
}

void InlineCall(Instruction* call) {
  Computation* parent = call->parent();
  Computation* callee = call->to_apply();
  InstructionMap map;
  std::vector<Instruction*> operands;
  for (const Instruction* i : callee->PostOrder()) {
    if (i->opcode() == Opcode::kParameter) {
      map[i] = call->operand(static_cast<int>(i->parameter_number()));
      continue;
    }
    operands.clear();
    for (const Instruction* o : i->operands()) operands.push_back(map.at(o));
    Instruction* copy = parent->AddLike(*i, i->shape(), operands);
    if (!copy->shared_metadata()) copy->set_metadata(call->shared_metadata());
    for (const Instruction* p : i->control_predecessors()) {
      if (p->opcode() != Opcode::kParameter) {
        copy->AddControlPredecessor(map.at(p));
      }
    }
    map[i] = copy;
  }
  Instruction* result = map.at(callee->root());
  call->ReplaceAllUsesWith(result);
  call->DropControlDependencies();
  parent->Remove(call);
}

}  // namespace ptxla::hlo
