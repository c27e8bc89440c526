#include "hlo_backend/passes/simplify/zero_sized_hlo_elimination.h"

#include <algorithm>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

bool IsEmpty(const Shape& shape) {
  return shape.IsArray() && shape.ElementCount() == 0;
}
bool IsEmpty(const Instruction* i) { return IsEmpty(i->shape()); }

Instruction* Spread(Builder* b, Instruction* scalar, const Shape& shape) {
  return shape.IsScalar() ? scalar : b->BroadcastScalar(scalar, shape.dims());
}

// The starts of a reduce or reduce-window, which nothing is added to.
Instruction* Starts(Builder* b, Instruction* i) {
  const int64_t n = i->operand_count() / 2;
  if (i->shape().IsArray()) return Spread(b, i->operand(n), i->shape());
  std::vector<Instruction*> results;
  for (int64_t k = 0; k < n; ++k) {
    results.push_back(Spread(b, i->operand(n + k), i->shape().element(k)));
  }
  return b->Tuple(results);
}

// The arrays that a scatter of no updates leaves as they are.
Instruction* Untouched(Builder* b, Instruction* scatter) {
  if (scatter->shape().IsArray()) return scatter->operand(0);
  const int64_t n = scatter->operand_count() / 2;
  const auto& all = scatter->operands();
  return b->Tuple(std::vector<Instruction*>(all.begin(), all.begin() + n));
}

Instruction* WithoutEmptyParts(Builder* b, Instruction* concatenate) {
  std::vector<Instruction*> parts;
  for (Instruction* o : concatenate->operands()) {
    if (!IsEmpty(o)) parts.push_back(o);
  }
  return parts.size() == 1
             ? parts[0]
             : b->Concatenate(parts, concatenate->dimensions()[0]);
}

// What has elements although it reads an array without; null: it stays.
Instruction* ValueOf(Builder* b, Instruction* i) {
  const auto is_empty = [&](int64_t n) { return IsEmpty(i->operand(n)); };
  switch (i->opcode()) {
    case Opcode::kDot:
    case Opcode::kRaggedDot:
    case Opcode::kConvolution:
      if (!is_empty(0) && !is_empty(1)) return nullptr;
      return Spread(b, b->Zero(i->shape().type()), i->shape());
    case Opcode::kReduce:
    case Opcode::kReduceWindow:
      return is_empty(0) ? Starts(b, i) : nullptr;
    case Opcode::kSelectAndScatter:
      return is_empty(1) ? Spread(b, i->operand(2), i->shape()) : nullptr;
    case Opcode::kPad:
      return is_empty(0) ? Spread(b, i->operand(1), i->shape()) : nullptr;
    case Opcode::kDynamicUpdateSlice:
      return is_empty(1) ? i->operand(0) : nullptr;
    case Opcode::kScatter:
      return is_empty(i->operand_count() - 1) ? Untouched(b, i) : nullptr;
    case Opcode::kConcatenate:
      return std::any_of(i->operands().begin(), i->operands().end(),
                         [](const Instruction* o) { return IsEmpty(o); })
                 ? WithoutEmptyParts(b, i)
                 : nullptr;
    default:
      return nullptr;
  }
}

Instruction* Replacement(Instruction* i) {
  if (i->opcode() == Opcode::kParameter || i->IsConstant() ||
      i->HasSideEffect()) {
    return nullptr;
  }
  Builder b(i->parent());
  b.set_metadata(i->shared_metadata());
  return IsEmpty(i) ? b.Constant(Literal(i->shape())) : ValueOf(&b, i);
}

}  // namespace

absl::StatusOr<bool> ZeroSizedHloEliminationPass::Run(Module* module,
                                                      const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      Instruction* value = Replacement(i);
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
