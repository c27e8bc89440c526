#include "hlo_backend/passes/loops/loop_operands.h"

#include <algorithm>
#include <vector>

#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/loops/loop_elements.h"
#include "hlo_backend/passes/memory/prefetch_uses.h"
#include "hlo_backend/passes/products/bf16_propagation.h"

namespace ptxla::hlo {
namespace {

constexpr PrimitiveType kBf16 = PrimitiveType::kBf16;

// A product of rows of one is a sum of f32 products for the TPU compiler, whose
// operands it leaves as they are (libtpu 0.0.42.1 on v5e).
bool FeedsSums(const Instruction& user) {
  if (IsProduct(user)) return HasRowsOfOne(user);
  return std::any_of(user.users().begin(), user.users().end(),
                     [](const Instruction* next) { return FeedsSums(*next); });
}

class Loop {
 public:
  explicit Loop(Instruction* loop)
      : loop_(loop),
        start_(loop->operand(0)),
        body_(loop->while_body()),
        condition_(loop->while_condition()) {}

  bool Round(int k) {
    if (!IsRoundedAnyway(k)) return false;
    Builder b(loop_->parent());
    b.set_metadata(start_->operand(k)->shared_metadata());
    start_->ReplaceOperand(k, b.Convert(start_->operand(k), kBf16));
    for (Instruction* state : {start_, loop_, body_->parameter(0),
                               condition_->parameter(0), body_->root()}) {
      state->mutable_shape()->mutable_element(k)->set_type(kBf16);
    }
    for (Instruction* value : ElementsOf(*body_->parameter(0), k)) {
      NarrowForProducts(value, body_->root());
    }
    return true;
  }

  int state_size() const { return start_->operand_count(); }

 private:
  bool IsRoundedAnyway(int k) const {
    const Shape& shape = start_->operand(k)->shape();
    if (!shape.IsArray() || shape.IsScalar() || shape.has_layout() ||
        shape.type() != PrimitiveType::kF32 ||
        start_->operand(k)->IsConstant() || !ElementsOf(*loop_, k).empty() ||
        !ElementsOf(*condition_->parameter(0), k).empty()) {
      return false;
    }
    const Instruction* next = body_->root()->operand(k);
    if (next->opcode() != Opcode::kGetTupleElement ||
        next->operand(0) != body_->parameter(0) || next->tuple_index() != k) {
      return false;
    }
    bool multiplied = false;
    for (const Instruction* value : ElementsOf(*body_->parameter(0), k)) {
      if (body_->root()->OperandUses(value) > (value == next ? 1 : 0)) {
        return false;
      }
      for (const Instruction* user : value->users()) {
        if (user == body_->root()) continue;
        if (!RoundsForProducts(*user) || FeedsSums(*user)) return false;
        multiplied = true;
      }
    }
    return multiplied;
  }

  Instruction* loop_;
  Instruction* start_;
  Computation* body_;
  Computation* condition_;
};

}  // namespace

absl::StatusOr<bool> LoopOperandsPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : PlainLoopsIn(*c)) {
      Loop loop(i);
      for (int k = 0; k < loop.state_size(); ++k) changed |= loop.Round(k);
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
