#include "hlo_backend/passes/fusion/fusion_chains.h"

#include <algorithm>

#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/fusion/kept_exponentials.h"
#include "hlo_backend/passes/fusion/mask_readers.h"
#include "hlo_backend/passes/fusion/row_leaves.h"
#include "hlo_backend/passes/fusion/second_pass.h"

namespace ptxla::hlo {
namespace {

// Stored values that the work behind one reads, before its list is cut off.
constexpr size_t kMostLeaves = 8;
// Broadcast values may add so much to what the work reads: 1 / 4.
constexpr int64_t kSmallShare = 4;

void AddLeaf(absl::InlinedVector<const Instruction*, 2>* list,
             const Instruction* leaf, bool* many) {
  if (std::find(list->begin(), list->end(), leaf) != list->end()) return;
  if (list->size() >= kMostLeaves) *many = true;
  list->push_back(leaf);
}

// Numbers of the rows or columns of a product (a causal mask, classes).
bool IsNumberedInEpilogue(const Instruction& iota) {
  return iota.shape().rank() == 2 && IsInteger(iota.shape().type()) &&
         BitWidth(iota.shape().type()) == 32;
}

// A scalar, a value of each column (a bias), or of each row (a scale, a label;
// a bias if the rows are `features`).
bool IsSpreadInEpilogue(const Instruction& broadcast, bool features) {
  const Shape& source = broadcast.operand(0)->shape();
  const int rank = broadcast.shape().rank();
  if (source.IsScalar() || KeepsMatrix(broadcast)) return true;
  if (source.rank() != 1) return false;
  const int64_t along = broadcast.dimensions()[0];
  return along == rank - 1 ||
         ((rank == 2 || features) && along == rank - 2 &&
          (BitWidth(source.type()) == 32 ||
           (features && source.type() == PrimitiveType::kBf16)));
}

}  // namespace

FusionChains::FusionChains(absl::Span<Instruction* const> order,
                           const ProloguePolicy& prologues)
    : nodes_(order), prologues_(order, nodes_, prologues) {
  for (const Instruction* i : order) {
    if (i->opcode() == Opcode::kReduce) ClaimPosition(*i);
  }
  for (const Instruction* i : order) Describe(*i);
}

void FusionChains::ClaimPosition(const Instruction& reduce) {
  const auto found = FindExtremumPosition(reduce);
  if (!found.has_value()) return;
  const auto claimed = [&](const Instruction* user) {
    return user == &reduce || of_position_.contains(user);
  };
  std::vector<const Instruction*> open = {reduce.operand(0)};
  for (size_t next = 0; next < open.size(); ++next) {
    const Instruction* i = open[next];
    if (i == found->values || node(i).role != FusionRole::kElementwise ||
        !std::all_of(i->users().begin(), i->users().end(), claimed)) {
      continue;
    }
    of_position_.insert(i);
    open.insert(open.end(), i->operands().begin(), i->operands().end());
  }
}

void FusionChains::Describe(const Instruction& i) {
  FusionNode& me = nodes_[&i];
  if (me.role == FusionRole::kStored) return;
  auto add = [&](const Instruction* value, bool full) {
    AddLeaf(full ? &me.full : &me.small, value, &me.many);
  };
  for (const Instruction* o : i.operands()) {
    const FusionNode& below = node(o);
    // What a broadcast, a reduce or a dot reads changes shape on the way.
    const bool same =
        (o->shape().SameDims(i.shape()) && i.IsElementwise()) || IsTileSlice(i);
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
      me.prologue[k] = !node(i.operand(k)).placed && prologues_.Fits(i, k);
    }
  }
  if (me.role != FusionRole::kElementwise) return;
  ++me.operations;
  if (prologues_.IsClaimed(i)) {
    me.placed =
        me.many || (IsProduct(*i.users()[0]) && !prologues_.FitsAllUses(i));
    return;
  }
  if (of_position_.contains(&i) || IsWidenedForSums(i)) {
    me.placed = false;
    return;
  }
  me.placed = !MayBeDoneAgain(i, me);
  if (!me.placed && NeedsMemory(i)) me.placed = true;
  if (me.placed && !NeedsMemory(i) && i.user_count() > 0) {
    // A convert of weights that only dots read.
    me.placed = !std::all_of(
        i.users().begin(), i.users().end(), [&](const Instruction* u) {
          return IsProduct(*u) && prologues_.ConvertsFit(*u, i);
        });
  }
}

bool FusionChains::MayBeDoneAgain(const Instruction& i,
                                  const FusionNode& node) const {
  if (node.many || node.full.size() > 2 || i.shape().IsScalar() ||
      IsKeptExponential(i) || node.operations > FusionNode::kMostOperations) {
    return false;
  }
  const int64_t bytes = i.shape().ByteSize();
  int64_t small = 0;
  for (const Instruction* leaf : node.small) small += leaf->shape().ByteSize();
  if (small * kSmallShare > bytes) return false;
  if (node.full.empty()) return true;
  int64_t full = 0;
  for (const Instruction* leaf : node.full) full += leaf->shape().ByteSize();
  // Of two arrays, an f32 value of bf16 ones (of a normalisation's gradient):
  // to read them again moves no more than to read the value.
  if (node.full.size() > 1 && full > bytes) {
    return full <= 2 * bytes && MeetsOtherSums(nodes_, i, node.full);
  }
  if (full > bytes) {
    return IsReadOnce(i, *node.full[0]) ||
           IsReadWith(nodes_, i, *node.full[0]) ||
           IsKeptForProducts(nodes_, i, *node.full[0]);
  }
  return !ReplacesItsInput(i);
}

// A mask of an array in memory, for one reader: stored, the array would be read
// all the same.
bool FusionChains::IsReadOnce(const Instruction& i,
                              const Instruction& leaf) const {
  const Instruction* array = &leaf;
  while (array->opcode() == Opcode::kBitcast) array = array->operand(0);
  return array->opcode() == Opcode::kParameter && i.user_count() == 1 &&
         i.shape().type() == PrimitiveType::kPred &&
         node(i.users()[0]).role == FusionRole::kElementwise &&
         i.users()[0]->shape().SameDims(i.shape());
}

bool FusionChains::IsWidenedForSums(const Instruction& i) const {
  if (i.opcode() != Opcode::kConvert ||
      i.shape().type() != PrimitiveType::kF32 ||
      i.operand(0)->shape().type() != PrimitiveType::kBf16 ||
      !node(i.operand(0)).placed || i.shape().rank() != 1 || i.IsRoot()) {
    return false;
  }
  const auto is_summed = [&](const Instruction* term) {
    return node(term).role == FusionRole::kElementwise && !term->IsRoot() &&
           std::all_of(term->users().begin(), term->users().end(),
                       [&](const Instruction* u) {
                         return node(u).role == FusionRole::kReduce;
                       });
  };
  return std::all_of(
      i.users().begin(), i.users().end(), [&](const Instruction* u) {
        return u->opcode() == Opcode::kBroadcast && u->shape().rank() > 1 &&
               !u->IsRoot() &&
               std::all_of(u->users().begin(), u->users().end(), is_summed);
      });
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

bool FusionChains::Follows(const Instruction& i, bool features) const {
  for (const Instruction* o : i.operands()) {
    switch (o->opcode()) {
      case Opcode::kIota:
        if (!IsNumberedInEpilogue(*o)) return false;
        break;
      case Opcode::kSlice:
      case Opcode::kConcatenate:
        return false;
      case Opcode::kBroadcast:
        if (!IsSpreadInEpilogue(*o, features)) return false;
        break;
      default:
        if (!node(o).placed && node(o).role == FusionRole::kElementwise &&
            !Follows(*o,
                     features && o->shape().type() != PrimitiveType::kPred)) {
          return false;
        }
    }
  }
  return true;
}

bool FusionChains::IsMasked(const Instruction& i) const {
  return std::any_of(
      i.users().begin(), i.users().end(), [&](const Instruction* u) {
        return u->shape().type() == PrimitiveType::kPred &&
               node(u).role == FusionRole::kElementwise && node(u).placed;
      });
}

bool FusionChains::NeedsMemory(const Instruction& i) const {
  if (i.IsRoot()) return true;
  for (const Instruction* user : i.users()) {
    switch (node(user).role) {
      case FusionRole::kStored:
      case FusionRole::kFree:  // a broadcast, a slice: its source is stored
        return true;
      case FusionRole::kDot:
        for (int k = 0; k < 2; ++k) {
          if (user->operand(k) == &i && !prologues_.Fits(*user, k)) return true;
        }
        break;
      case FusionRole::kReduce:
      case FusionRole::kElementwise:
        break;
    }
  }
  return false;
}

}  // namespace ptxla::hlo
