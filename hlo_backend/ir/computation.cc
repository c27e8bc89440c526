#include "hlo_backend/ir/computation.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {
namespace {

// Walks over a large computation wait for memory and little else: they ask for
// the instruction that comes so much later.
constexpr size_t kAhead = 8;
// Fewer are walked faster than kept.
constexpr int kManyInstructions = 256;
// What a pass makes in place of one instruction is seldom deeper.
constexpr int kPositionDepth = 3;

// If it has none: the source position of what it stands for, and so for
// operands without one.
void InheritPosition(const Instruction& from, Instruction* to, int depth) {
  if (to->source_line() != 0 || to == &from) return;
  to->set_source_position(from.source_line(), from.source_column());
  if (depth == 0) return;
  for (Instruction* operand : to->operands()) {
    InheritPosition(from, operand, depth - 1);
  }
}

}  // namespace

Computation::Computation(Module* module, std::string name, int id)
    : name_(std::move(name)), module_(module), id_(id) {}
Computation::~Computation() { ForgetOrder(); }

bool Computation::IsEntry() const { return module_->entry() == this; }

void Computation::SetRoot(Instruction* root) {
  CHECK(root->parent() == this);
  root_ = root;
  root_is_set_ = true;
}

ProgramShape Computation::program_shape() const {
  ProgramShape shape;
  for (const Instruction* p : parameters_) {
    shape.parameters.push_back(p->shape());
    shape.parameter_names.push_back(p->name());
  }
  if (root_ != nullptr) shape.result = root_->shape();
  return shape;
}

std::vector<Instruction*> Computation::PostOrder() const {
  if (live_ < kManyInstructions) return FindPostOrder();
  if (const auto* kept = order_.load(std::memory_order_acquire)) return *kept;
  std::vector<Instruction*> order = FindPostOrder();
  auto mine = std::make_unique<const std::vector<Instruction*>>(order);
  const std::vector<Instruction*>* none = nullptr;
  if (order_.compare_exchange_strong(none, mine.get())) mine.release();
  return order;
}

std::vector<Instruction*> Computation::FindPostOrder() const {
  std::vector<Instruction*> order;
  order.reserve(live_);
  // 0: not seen, 1: on the stack, 2: done; by position.
  std::vector<uint8_t> state(instructions_.size(), 0);
  struct Frame {
    Instruction* instruction;
    int next;
  };
  std::vector<Frame> stack;
  auto is_done = [&state](const Instruction* i) {
    return state[i->position_] == 2;
  };
  const size_t count = instructions_.size();
  for (size_t position = 0; position < count; ++position) {
    if (position + kAhead < count) {
      if (const Instruction* soon = instructions_[position + kAhead].get()) {
        __builtin_prefetch(&soon->operands_);
        __builtin_prefetch(&soon->control_predecessors_);
        __builtin_prefetch(&soon->position_);
      }
    }
    Instruction* start = instructions_[position].get();
    if (start == nullptr || state[position] == 2) continue;
    // Mostly the insertion order is a post order already: no search then.
    if (std::all_of(start->operands_.begin(), start->operands_.end(),
                    is_done) &&
        std::all_of(start->control_predecessors_.begin(),
                    start->control_predecessors_.end(), is_done)) {
      state[position] = 2;
      order.push_back(start);
      continue;
    }
    stack.push_back({start, 0});
    state[position] = 1;
    while (!stack.empty()) {
      Frame& frame = stack.back();
      Instruction* i = frame.instruction;
      const int operands = i->operand_count();
      const int total =
          operands + static_cast<int>(i->control_predecessors_.size());
      Instruction* next = nullptr;
      while (frame.next < total && next == nullptr) {
        Instruction* candidate =
            frame.next < operands
                ? i->operands_[frame.next]
                : i->control_predecessors_[frame.next - operands];
        ++frame.next;
        // A cycle (state 1) is the verifier's to report.
        if (state[candidate->position_] == 0) next = candidate;
      }
      if (next != nullptr) {
        state[next->position_] = 1;
        stack.push_back({next, 0});
      } else {
        state[i->position_] = 2;
        order.push_back(i);
        stack.pop_back();
      }
    }
  }
  return order;
}

Instruction* Computation::fusion_instruction() const {
  for (Instruction* caller : callers_.list()) {
    if (caller->opcode() == Opcode::kFusion) return caller;
  }
  return nullptr;
}

Instruction* Computation::Add(Opcode opcode, Shape shape,
                              absl::Span<Instruction* const> operands,
                              Attributes attributes,
                              absl::Span<Computation* const> called,
                              absl::string_view name) {
  return AddWithExactName(
      opcode, std::move(shape), operands, std::move(attributes), called,
      module_->UniqueName(name.empty() ? OpcodeName(opcode) : name));
}

Instruction* Computation::AddWithExactName(
    Opcode opcode, Shape shape, absl::Span<Instruction* const> operands,
    Attributes attributes, absl::Span<Computation* const> called,
    std::string name) {
  auto owned =
      std::unique_ptr<Instruction>(new Instruction(opcode, std::move(shape)));
  Instruction* i = owned.get();
  if (std::holds_alternative<std::monostate>(attributes)) {
    attributes = DefaultAttributes(opcode);
  }
  i->attributes_ = std::move(attributes);
  ForgetOrder();
  i->parent_ = this;
  i->id_ = module_->NextInstructionId();
  i->name_ = std::move(name);
  i->position_ = static_cast<int>(instructions_.size());
  i->operands_.assign(operands.begin(), operands.end());
  for (Instruction* operand : operands) {
    CHECK(operand->parent_ == this)
        << "operand " << operand->name() << " of " << i->name_
        << " lives in another computation";
    operand->users_.Add(i);
  }
  if (!called.empty()) i->SetCalled(called);
  if (opcode == Opcode::kParameter) {
    const int64_t number = i->parameter_number();
    if (number >= static_cast<int64_t>(parameters_.size())) {
      parameters_.resize(number + 1, nullptr);
    }
    parameters_[number] = i;
  }
  instructions_.push_back(std::move(owned));
  ++live_;
  return i;
}

Instruction* Computation::AddLike(const Instruction& like, Shape shape,
                                  absl::Span<Instruction* const> operands) {
  Instruction* i = Add(like.opcode_, std::move(shape), operands,
                       like.attributes_, like.called_, like.name_);
  i->metadata_ = like.metadata_;
  if (like.extras_) {
    i->extras_ = std::make_unique<InstructionExtras>(*like.extras_);
  }
  i->line_ = like.line_;
  i->column_ = like.column_;
  return i;
}

Instruction* Computation::AddParameter(int64_t number, Shape shape) {
  return Add(Opcode::kParameter, std::move(shape), {},
             ParameterAttrs{number, {}}, {}, "param");
}

Instruction* Computation::AddConstant(Literal literal) {
  Shape shape = literal.shape();
  return Add(
      Opcode::kConstant, std::move(shape), {},
      ConstantAttrs{std::make_shared<const Literal>(std::move(literal))});
}

void Computation::Remove(Instruction* i) {
  CHECK(i->parent_ == this);
  CHECK(i->users_.list().empty()) << i->name() << " still has users";
  CHECK(i != root_) << i->name() << " is the root";
  CHECK(i->control_successors_.empty())
      << i->name() << " has control successors";
  ForgetOrder();
  i->DetachFromOperands();
  i->DropControlDependencies();
  i->SetCalled({});
  if (i->opcode_ == Opcode::kParameter) {
    CHECK(!IsEntry()) << "an entry parameter cannot be removed";
    const int64_t number = i->parameter_number();
    parameters_.erase(parameters_.begin() + number);
    for (size_t n = number; n < parameters_.size(); ++n) {
      parameters_[n]->mutable_attrs<ParameterAttrs>()->number = n;
    }
  }
  instructions_[i->position_].reset();
  --live_;
}

void Computation::Replace(Instruction* old, Instruction* value) {
  CHECK(old != value);
  old->ReplaceAllUsesWith(value);
  old->MoveControlDependenciesTo(value);
  if (!value->metadata_) value->metadata_ = old->metadata_;
  InheritPosition(*old, value, kPositionDepth);
  if (old->sharding() != nullptr && value->sharding() == nullptr) {
    value->mutable_extras()->sharding = old->extras_->sharding;
  }
  // The new value may be computed from the old one.
  if (old->users_.list().empty() && old->opcode_ != Opcode::kParameter) {
    Remove(old);
  }
}

int Computation::RemoveDead() {
  std::vector<uint8_t> live(instructions_.size(), 0);
  std::vector<Instruction*> work;
  bool any_dead = false;
  auto mark = [&](Instruction* i) {
    if (live[i->position_]) return;
    live[i->position_] = 1;
    work.push_back(i);
  };
  for (size_t n = 0; n < instructions_.size(); ++n) {
    if (n + kAhead < instructions_.size()) {
      if (const Instruction* soon = instructions_[n + kAhead].get()) {
        __builtin_prefetch(&soon->opcode_);
        __builtin_prefetch(&soon->users_);
      }
    }
    const std::unique_ptr<Instruction>& i = instructions_[n];
    if (!i) continue;
    if (i.get() == root_ || i->opcode_ == Opcode::kParameter ||
        i->HasSideEffect() || !i->control_successors_.empty() ||
        !i->control_predecessors_.empty()) {
      mark(i.get());
    } else if (i->users_.list().empty()) {
      any_dead = true;
    }
  }
  // What is dead ends in something that nobody uses.
  if (!any_dead) return 0;
  while (!work.empty()) {
    Instruction* i = work.back();
    work.pop_back();
    for (Instruction* operand : i->operands_) mark(operand);
  }
  int removed = 0;
  for (size_t n = 0; n < instructions_.size(); ++n) {
    if (instructions_[n] && !live[n]) instructions_[n]->DetachFromOperands();
  }
  for (size_t n = 0; n < instructions_.size(); ++n) {
    std::unique_ptr<Instruction>& i = instructions_[n];
    if (!i || live[n]) continue;
    i->SetCalled({});
    i.reset();
    ++removed;
  }
  if (removed > 0) ForgetOrder();
  live_ -= removed;
  return removed;
}

void Computation::Reorder(absl::Span<Instruction* const> order) {
  CHECK_EQ(static_cast<int>(order.size()), live_);
  ForgetOrder();
  std::vector<std::unique_ptr<Instruction>> next;
  next.reserve(order.size());
  for (Instruction* i : order) {
    auto& slot = instructions_[i->position_];
    CHECK(i->parent_ == this && slot.get() == i)
        << i->name() << " is twice in the new order";
    next.push_back(std::move(slot));
    // Positions keep pointing into the old list until all have moved.
  }
  instructions_ = std::move(next);
  for (size_t n = 0; n < instructions_.size(); ++n) {
    instructions_[n]->position_ = static_cast<int>(n);
  }
}

void Computation::Compact() {
  size_t n = 0;
  for (auto& i : instructions_) {
    if (!i) continue;
    i->position_ = static_cast<int>(n);
    if (&instructions_[n] != &i) instructions_[n] = std::move(i);
    ++n;
  }
  instructions_.resize(n);
}

}  // namespace ptxla::hlo
