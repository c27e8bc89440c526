#include "hlo_backend/passes/fusion_chains.h"

#include <algorithm>

#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::hlo {
namespace {

// Work that is done again is bounded, so that kernels stay small.
constexpr int kMostOperations = 32;
constexpr size_t kMostLeaves = 6;
// Broadcast values may add so much to what the work reads: 1 / 4.
constexpr int64_t kSmallShare = 4;

bool IsRowMajor(const Shape& shape) {
  return !shape.has_layout() || shape.layout().IsRowMajor();
}

FusionRole RoleOf(const Instruction& i) {
  switch (i.opcode()) {
    case Opcode::kConstant:
      return i.shape().IsScalar() ? FusionRole::kFree : FusionRole::kStored;
    case Opcode::kBroadcast:
    case Opcode::kIota:
      return IsRowMajor(i.shape()) && BitWidth(i.shape().type()) <= 32
                 ? FusionRole::kFree
                 : FusionRole::kStored;
    case Opcode::kConvolution:
    case Opcode::kDot:
      return FusionRole::kDot;
    case Opcode::kReduce:
      return IsFusibleReduce(i) && IsRowMajor(i.operand(0)->shape())
                 ? FusionRole::kReduce
                 : FusionRole::kStored;
    default:
      break;
  }
  if (!IsLoopElementwise(i) || !IsRowMajor(i.shape()) ||
      !i.control_predecessors().empty() || !i.control_successors().empty()) {
    return FusionRole::kStored;
  }
  for (const Instruction* o : i.operands()) {
    if (!IsRowMajor(o->shape())) return FusionRole::kStored;
  }
  return FusionRole::kElementwise;
}

void AddLeaf(absl::InlinedVector<const Instruction*, 2>* list,
             const Instruction* leaf, bool* many) {
  if (std::find(list->begin(), list->end(), leaf) != list->end()) return;
  if (list->size() >= kMostLeaves) *many = true;
  list->push_back(leaf);
}

}  // namespace

FusionChains::FusionChains(absl::Span<Instruction* const> order) {
  nodes_.resize(order.size());
  int last_id = -1;
  for (const Instruction* i : order) last_id = std::max(last_id, i->id());
  number_.assign(last_id + 1, -1);
  for (size_t n = 0; n < order.size(); ++n) {
    number_[order[n]->id()] = static_cast<int>(n);
    nodes_[n].role = RoleOf(*order[n]);
  }
  for (Instruction* i : order) Describe(*i);
}

void FusionChains::Describe(const Instruction& i) {
  FusionNode& me = nodes_[NumberOf(&i)];
  if (me.role == FusionRole::kStored) return;
  auto add = [&](const Instruction* value, bool full) {
    AddLeaf(full ? &me.full : &me.small, value, &me.many);
  };
  for (const Instruction* o : i.operands()) {
    const FusionNode& below = node(o);
    // What a broadcast, a reduce or a dot reads changes shape on the way.
    const bool same = o->shape().SameDims(i.shape()) && i.IsElementwise();
    if (below.placed) {
      add(o, same);
      continue;
    }
    for (const Instruction* leaf : below.full) add(leaf, same);
    for (const Instruction* leaf : below.small) add(leaf, false);
    me.many |= below.many;
    me.operations += below.operations;
  }
  if (me.role == FusionRole::kFree) {
    me.placed = false;
    // Who needs it in memory makes a kernel of it alone.
    return;
  }
  if (me.role == FusionRole::kDot) {
    for (int k = 0; k < 2; ++k) {
      me.prologue[k] =
          !node(i.operand(k)).placed && PrologueFits(*i.operand(k));
    }
  }
  if (me.role != FusionRole::kElementwise) return;
  ++me.operations;
  me.placed = !MayBeDoneAgain(i, me);
  if (!me.placed && NeedsMemory(i)) me.placed = true;
  if (me.placed && !NeedsMemory(i) && i.user_count() > 0) {
    // A convert of weights that only dots read.
    me.placed = !std::all_of(
        i.users().begin(), i.users().end(),
        [&](const Instruction* u) { return IsProduct(*u) && PrologueFits(i); });
  }
}

bool FusionChains::MayBeDoneAgain(const Instruction& i,
                                  const FusionNode& node) const {
  if (node.many || node.full.size() > 1 || i.shape().IsScalar() ||
      node.operations > kMostOperations) {
    return false;
  }
  const int64_t bytes = i.shape().ByteSize();
  int64_t small = 0;
  for (const Instruction* leaf : node.small) small += leaf->shape().ByteSize();
  if (small * kSmallShare > bytes) return false;
  if (node.full.empty()) return true;
  if (node.full[0]->shape().ByteSize() > bytes) return false;
  return !ReplacesItsInput(i);
}

// The only reader of a value that is made in a kernel, and no larger: stored
// in its place.
bool FusionChains::ReplacesItsInput(const Instruction& i) const {
  for (const Instruction* o : i.operands()) {
    const FusionNode& below = node(o);
    const bool made_here =
        below.placed && (below.role == FusionRole::kDot ||
                         below.role == FusionRole::kElementwise);
    if (made_here && o->user_count() == 1 && o->shape().SameDims(i.shape()) &&
        o->shape().ByteSize() >= i.shape().ByteSize()) {
      return true;
    }
  }
  return false;
}

bool FusionChains::EpilogueFits(const Instruction& i) const {
  for (const Instruction* o : i.operands()) {
    if (o->opcode() == Opcode::kIota) return false;
    if (o->opcode() == Opcode::kBroadcast) {
      const bool along_minor = o->operand(0)->shape().rank() == 1 &&
                               o->dimensions()[0] == o->shape().rank() - 1;
      if (!o->operand(0)->shape().IsScalar() && !along_minor) return false;
    } else if (!node(o).placed && node(o).role == FusionRole::kElementwise &&
               !EpilogueFits(*o)) {
      return false;
    }
  }
  return true;
}

// Only conversions: the MXU's operands are rounded on their way in anyway, and
// other work would be done again for each tile of the result.
bool FusionChains::PrologueFits(const Instruction& value) const {
  const FusionNode& work = node(&value);
  if (work.role != FusionRole::kElementwise || work.many ||
      work.full.size() != 1 || work.operations > kMostOperations ||
      !work.full[0]->shape().SameDims(value.shape())) {
    return false;
  }
  const Instruction* source = &value;
  while (source->opcode() == Opcode::kConvert &&
         (source == &value || !node(source).placed)) {
    source = source->operand(0);
  }
  if (source != work.full[0]) return false;
  // Narrower numbers than bf16 lose nothing on their way.
  const PrimitiveType type = source->shape().type();
  const bool narrow =
      type == PrimitiveType::kS8 || type == PrimitiveType::kU8 ||
      type == PrimitiveType::kS4 || type == PrimitiveType::kU4 ||
      (IsFloat(type) && BitWidth(type) == 8 &&
       type != PrimitiveType::kF8E8M0Fnu);
  const auto wide = [](PrimitiveType t) {
    return t == PrimitiveType::kF32 || t == PrimitiveType::kBf16;
  };
  if (!wide(type) && !narrow) return false;
  if (!wide(value.shape().type())) return false;
  const int64_t bytes = value.shape().ByteSize();
  const int64_t read = work.full[0]->shape().ByteSize();
  // Weights stay in memory as they are: twice the bytes are read, none
  // written.
  const bool weights = work.full[0]->opcode() == Opcode::kParameter;
  return read <= (weights ? 2 * bytes : bytes);
}

bool FusionChains::NeedsMemory(const Instruction& i) const {
  if (i.IsRoot()) return true;
  for (const Instruction* user : i.users()) {
    switch (node(user).role) {
      case FusionRole::kStored:
      case FusionRole::kFree:  // a broadcast: its source is stored
        return true;
      case FusionRole::kDot:
        if (!PrologueFits(i)) return true;
        break;
      case FusionRole::kReduce:
      case FusionRole::kElementwise:
        break;
    }
  }
  return false;
}

}  // namespace ptxla::hlo
