#include "hlo_backend/ir/instruction.h"

#include <algorithm>
#include <utility>

#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/printer.h"

namespace ptxla::hlo {
namespace {

const Metadata& EmptyMetadata() {
  static const Metadata& empty = *new Metadata;
  return empty;
}

const InstructionExtras& EmptyExtras() {
  static const InstructionExtras& empty = *new InstructionExtras;
  return empty;
}

template <class List>
void Erase(List* list, Instruction* value) {
  list->erase(std::remove(list->begin(), list->end(), value), list->end());
}

}  // namespace

Instruction::Instruction(Opcode opcode, Shape shape)
    : opcode_(opcode), shape_(std::move(shape)) {}
Instruction::~Instruction() = default;

Module* Instruction::module() const { return parent_->module(); }

void Instruction::set_attributes(Attributes a) { attributes_ = std::move(a); }

int Instruction::OperandIndex(const Instruction* value) const {
  for (int i = 0; i < operand_count(); ++i) {
    if (operands_[i] == value) return i;
  }
  return -1;
}

int Instruction::OperandUses(const Instruction* value) const {
  return static_cast<int>(
      std::count(operands_.begin(), operands_.end(), value));
}

void Instruction::ReplaceOperand(int i, Instruction* value) {
  Instruction* old = operands_[i];
  if (old == value) return;
  parent_->ForgetOrder();
  operands_[i] = value;
  if (OperandIndex(old) < 0) old->users_.Remove(this);
  value->users_.Add(this);
}

void Instruction::AppendOperand(Instruction* value) {
  parent_->ForgetOrder();
  operands_.push_back(value);
  value->users_.Add(this);
}

void Instruction::ReplaceUseIn(Instruction* user, Instruction* value) {
  if (value == this) return;
  parent_->ForgetOrder();
  bool found = false;
  for (Instruction*& operand : user->operands_) {
    if (operand == this) {
      operand = value;
      found = true;
    }
  }
  CHECK(found) << user->name() << " does not use " << name_;
  users_.Remove(user);
  value->users_.Add(user);
}

void Instruction::ReplaceAllUsesWith(Instruction* value) {
  if (value == this) return;
  CHECK(value->shape().SameDimsAndType(shape_))
      << name_ << " is " << shape_.ToString() << ", " << value->name() << " is "
      << value->shape().ToString();
  parent_->ForgetOrder();
  const bool value_is_user = users_.Contains(value);
  for (Instruction* user : users_.list()) {
    // The new value may be computed from the old one: that use stays.
    if (user == value) continue;
    for (Instruction*& operand : user->operands_) {
      if (operand == this) operand = value;
    }
    value->users_.Add(user);
  }
  users_.Clear();
  if (value_is_user) users_.Add(value);
  if (IsRoot()) parent_->SetRoot(value);
}

void Instruction::DetachFromOperands() {
  parent_->ForgetOrder();
  for (Instruction* operand : operands_) operand->users_.Remove(this);
  operands_.clear();
}

const Literal& Instruction::literal() const {
  return *attrs<ConstantAttrs>().literal;
}
int64_t Instruction::parameter_number() const {
  return attrs<ParameterAttrs>().number;
}
int64_t Instruction::tuple_index() const {
  return attrs<TupleIndexAttrs>().index;
}
absl::Span<const int64_t> Instruction::dimensions() const {
  return attrs<DimensionsAttrs>().dimensions;
}
FusionKind Instruction::fusion_kind() const {
  return attrs<FusionAttrs>().kind;
}

void Instruction::SetCalled(absl::Span<Computation* const> computations) {
  for (Computation* c : called_) c->callers_.Remove(this);
  called_.assign(computations.begin(), computations.end());
  for (Computation* c : called_) c->callers_.Add(this);
}

void Instruction::ReplaceCalled(int i, Computation* computation) {
  Computation* old = called_at(i);
  called_[i] = computation;
  if (std::find(called_.begin(), called_.end(), old) == called_.end()) {
    old->callers_.Remove(this);
  }
  computation->callers_.Add(this);
}

void Instruction::AddControlPredecessor(Instruction* predecessor) {
  CHECK(predecessor->parent_ == parent_);
  auto& list = control_predecessors_;
  if (std::find(list.begin(), list.end(), predecessor) != list.end()) return;
  parent_->ForgetOrder();
  list.push_back(predecessor);
  predecessor->control_successors_.push_back(this);
}

void Instruction::DropControlDependencies() {
  parent_->ForgetOrder();
  for (Instruction* p : control_predecessors_) {
    Erase(&p->control_successors_, this);
  }
  for (Instruction* s : control_successors_) {
    Erase(&s->control_predecessors_, this);
  }
  control_predecessors_.clear();
  control_successors_.clear();
}

void Instruction::MoveControlDependenciesTo(Instruction* to) {
  const auto predecessors = control_predecessors_;
  const auto successors = control_successors_;
  DropControlDependencies();
  for (Instruction* p : predecessors) {
    if (p != to) to->AddControlPredecessor(p);
  }
  for (Instruction* s : successors) {
    if (s != to) s->AddControlPredecessor(to);
  }
}

const Metadata& Instruction::metadata() const {
  return metadata_ ? *metadata_ : EmptyMetadata();
}

void Instruction::set_metadata(Metadata metadata) {
  metadata_ = std::make_shared<const Metadata>(std::move(metadata));
}

const InstructionExtras& Instruction::extras() const {
  return extras_ ? *extras_ : EmptyExtras();
}

InstructionExtras* Instruction::mutable_extras() {
  if (!extras_) extras_ = std::make_unique<InstructionExtras>();
  return extras_.get();
}

const Sharding* Instruction::sharding() const {
  return extras().sharding.get();
}

void Instruction::set_sharding(Sharding sharding) {
  mutable_extras()->sharding =
      std::make_shared<const Sharding>(std::move(sharding));
}

void Instruction::clear_sharding() {
  if (extras_) extras_->sharding.reset();
}

const FrontendAttributes& Instruction::frontend_attributes() const {
  return extras().frontend_attributes;
}

const std::string& Instruction::backend_config() const {
  return extras().backend_config;
}

void Instruction::set_backend_config(std::string text, bool is_json) {
  mutable_extras()->backend_config = std::move(text);
  mutable_extras()->backend_config_is_json = is_json;
}

bool Instruction::IsRoot() const { return parent_->root() == this; }
bool Instruction::IsFused() const { return parent_->IsFusionComputation(); }

bool Instruction::HasSideEffect() const {
  if (hlo::HasSideEffect(opcode_)) return true;
  switch (opcode_) {
    case Opcode::kCustomCall:
      return attrs<CustomCallAttrs>().has_side_effect;
    // What was begun has to be waited for.
    case Opcode::kAllGatherDone:
    case Opcode::kAllReduceDone:
    case Opcode::kAsyncDone:
    case Opcode::kAsyncUpdate:
    case Opcode::kCollectivePermuteDone:
      return operand(0)->HasSideEffect();
    // A reducer cannot have an effect; bodies can.
    case Opcode::kAsyncStart:
    case Opcode::kCall:
    case Opcode::kConditional:
    case Opcode::kFusion:
    case Opcode::kMap:
    case Opcode::kWhile:
      break;
    default:
      return false;
  }
  for (const Computation* c : called_) {
    for (const Instruction* i : c->instructions()) {
      if (i->HasSideEffect()) return true;
    }
  }
  return false;
}

bool Instruction::Identical(const Instruction& o) const {
  if (opcode_ != o.opcode_ || HasSideEffect() || o.HasSideEffect()) {
    return false;
  }
  if (opcode_ == Opcode::kParameter) return this == &o;
  return shape_ == o.shape_ && operands_ == o.operands_ &&
         called_ == o.called_ && AttributesEqual(attributes_, o.attributes_);
}

std::string Instruction::ToString() const { return Print(*this); }

}  // namespace ptxla::hlo
