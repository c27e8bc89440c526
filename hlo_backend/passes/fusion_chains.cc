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

bool IsScalarBroadcast(const Instruction& i) {
  return i.opcode() == Opcode::kBroadcast && i.operand(0)->shape().IsScalar();
}

// No broadcasts of arrays and no iotas in the work behind `i`.
bool OnlyScalars(const FusionChains& chains, const Instruction& i) {
  for (const Instruction* o : i.operands()) {
    const FusionNode& node = chains.node(o);
    if (node.placed && node.role != FusionRole::kFree) continue;
    if (o->IsConstant() || IsScalarBroadcast(*o)) continue;
    if (node.role == FusionRole::kFree) return false;
    if (!OnlyScalars(chains, *o)) return false;
  }
  return true;
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
        i.users().begin(), i.users().end(), [&](const Instruction* u) {
          return u->opcode() == Opcode::kDot && PrologueFits(i);
        });
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

bool FusionChains::PrologueFits(const Instruction& value) const {
  const FusionNode& work = node(&value);
  if (work.role != FusionRole::kElementwise || work.many ||
      work.full.size() != 1 || work.operations > kMostOperations ||
      !work.full[0]->shape().SameDims(value.shape())) {
    return false;
  }
  for (const Instruction* leaf : work.small) {
    if (!leaf->shape().IsScalar()) return false;
  }
  if (!OnlyScalars(*this, value)) return false;
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
