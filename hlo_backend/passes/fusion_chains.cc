#include "hlo_backend/passes/fusion_chains.h"

#include <algorithm>

#include "hlo_backend/analysis/extremum_position.h"
#include "hlo_backend/analysis/fusion_rules.h"

namespace ptxla::hlo {
namespace {

// Work that is done again is bounded, so that kernels stay small.
constexpr int kMostOperations = 32;
constexpr size_t kMostLeaves = 8;
// Arrays of its shape that the work before a product reads: each takes windows.
constexpr size_t kMostArrays = 4;
// Work on a mask and what it is made from is looked for so far.
constexpr size_t kMostReaders = 16;
constexpr int kDeepest = 4;
// Broadcast values may add so much to what the work reads: 1 / 4.
constexpr int64_t kSmallShare = 4;

bool IsRowMajor(const Shape& shape) {
  return !shape.has_layout() || shape.layout().IsRowMajor();
}

// Lanes are read where they lie: what spreads or reorders them needs an array
// of its own.
bool IsReadInPlace(const Instruction& lanes) {
  return std::none_of(lanes.users().begin(), lanes.users().end(),
                      [](const Instruction* u) {
                        return u->opcode() == Opcode::kBroadcast ||
                               u->opcode() == Opcode::kReshape ||
                               u->opcode() == Opcode::kBitcast ||
                               u->opcode() == Opcode::kTranspose;
                      });
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
    case Opcode::kSlice:
      return IsLaneSlice(i) && IsReadInPlace(i) &&
                     i.control_predecessors().empty() &&
                     i.control_successors().empty()
                 ? FusionRole::kFree
                 : FusionRole::kStored;
    case Opcode::kConvolution:
      return IsProduct(i) ? FusionRole::kDot : FusionRole::kStored;
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

FusionChains::FusionChains(absl::Span<Instruction* const> order,
                           const ProloguePolicy& prologues)
    : prologues_(prologues) {
  nodes_.resize(order.size());
  int last_id = -1;
  for (const Instruction* i : order) last_id = std::max(last_id, i->id());
  number_.assign(last_id + 1, -1);
  for (size_t n = 0; n < order.size(); ++n) {
    number_[order[n]->id()] = static_cast<int>(n);
    nodes_[n].role = RoleOf(*order[n]);
  }
  claimed_.assign(order.size(), false);
  of_position_.assign(order.size(), false);
  for (Instruction* i : order) {
    if (i->opcode() == Opcode::kReduce) ClaimPosition(*i);
    if (i->opcode() != Opcode::kDot) continue;
    for (const Instruction* operand : i->operands()) Claim(*operand);
  }
  for (Instruction* i : order) Describe(*i);
}

bool FusionChains::AllUses(
    const Instruction& value,
    absl::FunctionRef<bool(const Instruction&, int)> holds) {
  return std::all_of(
      value.users().begin(), value.users().end(), [&](const Instruction* u) {
        return u->opcode() == Opcode::kDot && u->operand(0) != u->operand(1) &&
               holds(*u, u->operand(0) == &value ? 0 : 1);
      });
}

void FusionChains::Claim(const Instruction& value) {
  const auto has_form = [](const Instruction& dot, int k) {
    return PrologueForm(dot, k);
  };
  if (value.IsRoot() || value.user_count() == 0 ||
      node(&value).role != FusionRole::kElementwise ||
      !AllUses(value, has_form) ||
      (value.user_count() > 1 && !prologues_.StreamsFromHbm(value.shape()))) {
    return;
  }
  std::vector<const Instruction*> members = {&value};
  const auto needed_here = [&](const Instruction* i) {
    if (node(i).role != FusionRole::kElementwise || i->IsRoot() ||
        !i->shape().SameDims(value.shape())) {
      return false;
    }
    return std::all_of(
        i->users().begin(), i->users().end(), [&](const Instruction* u) {
          return std::find(members.begin(), members.end(), u) != members.end();
        });
  };
  // Users before operands, so that a value is seen when all its users are.
  size_t arrays = 0;
  for (size_t next = 0; next < members.size(); ++next) {
    for (const Instruction* o : members[next]->operands()) {
      if (std::find(members.begin(), members.end(), o) != members.end()) {
        continue;
      }
      if (members.size() < kMostOperations && needed_here(o)) {
        members.push_back(o);
      }
    }
  }
  std::vector<const Instruction*> read;
  for (const Instruction* m : members) {
    for (const Instruction* o : m->operands()) {
      if (std::find(members.begin(), members.end(), o) != members.end() ||
          std::find(read.begin(), read.end(), o) != read.end()) {
        continue;
      }
      read.push_back(o);
      if (o->opcode() == Opcode::kBroadcast) {
        const auto is_read = [&](const Instruction& dot, int) {
          return PrologueReads(dot, *o);
        };
        if (!AllUses(value, is_read)) return;
        if (node(o->operand(0)).role == FusionRole::kFree &&
            !o->operand(0)->IsConstant()) {
          return;
        }
      } else if (o->opcode() == Opcode::kIota) {
        return;
      } else if (!o->IsConstant()) {
        // What a product makes in more bytes is finished behind it.
        const bool wider = node(o).role == FusionRole::kDot &&
                           o->shape().ByteSize() > value.shape().ByteSize();
        if (wider || !IsPrologueArray(o->shape())) return;
        ++arrays;
      }
    }
  }
  if (arrays == 0 || arrays > kMostArrays) return;
  for (const Instruction* m : members) claimed_[NumberOf(m)] = true;
}

void FusionChains::ClaimPosition(const Instruction& reduce) {
  const auto found = FindExtremumPosition(reduce);
  if (!found.has_value()) return;
  const auto claimed = [&](const Instruction* user) {
    return user == &reduce ||
           (NumberOf(user) >= 0 && of_position_[NumberOf(user)]);
  };
  std::vector<const Instruction*> open = {reduce.operand(0)};
  for (size_t next = 0; next < open.size(); ++next) {
    const Instruction* i = open[next];
    if (i == found->values || node(i).role != FusionRole::kElementwise ||
        !std::all_of(i->users().begin(), i->users().end(), claimed)) {
      continue;
    }
    of_position_[NumberOf(i)] = true;
    open.insert(open.end(), i->operands().begin(), i->operands().end());
  }
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
      me.prologue[k] = !node(i.operand(k)).placed && PrologueFits(i, k);
    }
  }
  if (me.role != FusionRole::kElementwise) return;
  ++me.operations;
  if (claimed_[NumberOf(&i)]) {
    const auto fits = [&](const Instruction& dot, int k) {
      return ArithmeticFits(dot, k);
    };
    me.placed = me.many ||
                (i.users()[0]->opcode() == Opcode::kDot && !AllUses(i, fits));
    return;
  }
  if (of_position_[NumberOf(&i)]) {
    me.placed = false;
    return;
  }
  if (IsWidenedForSums(i)) {
    me.placed = false;
    return;
  }
  me.placed = !MayBeDoneAgain(i, me);
  if (!me.placed && NeedsMemory(i)) me.placed = true;
  if (me.placed && !NeedsMemory(i) && i.user_count() > 0) {
    // A convert of weights that only dots read.
    me.placed = !std::all_of(
        i.users().begin(), i.users().end(),
        [&](const Instruction* u) { return IsProduct(*u) && ConvertsFit(i); });
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
  if (node.full[0]->shape().ByteSize() > bytes) {
    return IsReadWith(i, *node.full[0]) || IsKeptForProducts(i, *node.full[0]);
  }
  return !ReplacesItsInput(i);
}

bool FusionChains::IsReadWith(const Instruction& mask,
                              const Instruction& source) const {
  if (mask.shape().type() != PrimitiveType::kPred || mask.IsRoot()) {
    return false;
  }
  const auto is_of_loop = [&](const Instruction* i) {
    return node(i).role == FusionRole::kElementwise &&
           i->shape().SameDims(mask.shape());
  };
  return std::all_of(
      mask.users().begin(), mask.users().end(), [&](const Instruction* user) {
        std::vector<const Instruction*> open = {user};
        for (size_t next = 0; next < open.size(); ++next) {
          const Instruction* i = open[next];
          if (!is_of_loop(i)) continue;
          for (const Instruction* o : i->operands()) {
            if (o != &mask && IsMadeOf(o, source)) return true;
          }
          for (const Instruction* u : i->users()) {
            if (open.size() < kMostReaders &&
                std::find(open.begin(), open.end(), u) == open.end()) {
              open.push_back(u);
            }
          }
        }
        return false;
      });
}

bool FusionChains::IsKeptForProducts(const Instruction& mask,
                                     const Instruction& source) const {
  const auto products = std::count_if(
      source.users().begin(), source.users().end(),
      [&](const Instruction* u) { return node(u).role == FusionRole::kDot; });
  return mask.shape().type() == PrimitiveType::kPred && !mask.IsRoot() &&
         products > 1 &&
         source.shape().ByteSize() <= 2 * mask.shape().ByteSize();
}

// Is it made of `source` and of what is free, one step after another?
bool FusionChains::IsMadeOf(const Instruction* i,
                            const Instruction& source) const {
  for (int depth = 0; depth < kDeepest && i != &source; ++depth) {
    if (node(i).role != FusionRole::kElementwise) return false;
    const Instruction* array = nullptr;
    for (const Instruction* o : i->operands()) {
      if (node(o).role == FusionRole::kFree) continue;
      if (array != nullptr) return false;
      array = o;
    }
    if (array == nullptr) return false;
    i = array;
  }
  return i == &source;
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

bool FusionChains::EpilogueFits(const Instruction& i) const {
  for (const Instruction* o : i.operands()) {
    if (o->opcode() == Opcode::kIota || o->opcode() == Opcode::kSlice) {
      return false;
    }
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

bool FusionChains::PrologueFits(const Instruction& dot, int operand) const {
  return ConvertsFit(*dot.operand(operand)) || ArithmeticFits(dot, operand);
}

// The MXU's operands are rounded on their way in anyway.
bool FusionChains::ConvertsFit(const Instruction& value) const {
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

bool FusionChains::ArithmeticFits(const Instruction& dot, int operand) const {
  const Instruction& value = *dot.operand(operand);
  const FusionNode& work = node(&value);
  if (work.role != FusionRole::kElementwise || work.many || work.full.empty() ||
      work.full.size() > kMostArrays || work.operations > kMostOperations ||
      dot.opcode() != Opcode::kDot || !PrologueForm(dot, operand)) {
    return false;
  }
  int64_t read = 0;
  for (const Instruction* leaf : work.full) {
    if (!leaf->shape().SameDims(value.shape()) ||
        !IsPrologueArray(leaf->shape())) {
      return false;
    }
    read += leaf->shape().ByteSize();
  }
  // Broadcasts down through what is done again.
  std::vector<const Instruction*> open = {&value};
  int operations = 0;
  for (size_t next = 0; next < open.size(); ++next) {
    operations += prologues_.OperationsOf(*open[next]);
    for (const Instruction* o : open[next]->operands()) {
      const FusionNode& below = node(o);
      if (below.placed || o->IsConstant()) continue;
      if (o->opcode() == Opcode::kBroadcast) {
        if (!PrologueReads(dot, *o)) return false;
        if (!node(o->operand(0)).placed && !o->operand(0)->IsConstant() &&
            o->operand(0)->opcode() != Opcode::kIota) {
          return false;
        }
      } else if (o->opcode() == Opcode::kIota) {
        ++operations;
      } else if (below.role == FusionRole::kElementwise) {
        if (std::find(open.begin(), open.end(), o) == open.end()) {
          open.push_back(o);
        }
      } else {
        return false;
      }
    }
  }
  if (!prologues_.Hides(dot, operand, operations)) return false;
  if (claimed_[NumberOf(&value)] && value.user_count() == 1) return true;
  // Read by each product as it is, or made once and read by each.
  const int64_t bytes = value.shape().ByteSize();
  const auto users = static_cast<int64_t>(value.user_count());
  return users * read <= read + bytes + users * bytes;
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
          if (user->operand(k) == &i && !PrologueFits(*user, k)) return true;
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
