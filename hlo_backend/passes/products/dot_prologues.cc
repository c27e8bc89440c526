#include "hlo_backend/passes/products/dot_prologues.h"

#include <algorithm>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/functional/function_ref.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"

namespace ptxla::hlo {
namespace {

// Arrays of its shape that the work before a product reads: each takes windows.
constexpr size_t kMostArrays = 4;

// Of each dot that reads `value`, and nothing but dots does, as its operand.
bool AllUses(const Instruction& value,
             absl::FunctionRef<bool(const Instruction&, int)> holds) {
  return std::all_of(value.users().begin(), value.users().end(),
                     [&](const Instruction* u) {
                       return IsProduct(*u) && u->operand(0) != u->operand(1) &&
                              holds(*u, u->operand(0) == &value ? 0 : 1);
                     });
}

bool IsReadOnlyBy(const Instruction& value,
                  const std::vector<const Instruction*>& members) {
  return absl::c_all_of(value.users(), [&](const Instruction* u) {
    return absl::c_linear_search(members, u);
  });
}

bool IsParameter(const Instruction& value) {
  const Instruction* x = &value;
  while (x->opcode() == Opcode::kBitcast) x = x->operand(0);
  return x->opcode() == Opcode::kParameter;
}

}  // namespace

DotPrologues::DotPrologues(absl::Span<Instruction* const> order,
                           const FusionNodes& nodes,
                           const ProloguePolicy& policy)
    : nodes_(nodes), policy_(policy) {
  for (const Instruction* i : order) {
    if (!IsProduct(*i)) continue;
    for (const Instruction* operand : i->operands()) Claim(*operand);
  }
}

void DotPrologues::Claim(const Instruction& value) {
  const auto has_form = [](const Instruction& dot, int k) {
    return PrologueForm(dot, k);
  };
  if (value.IsRoot() || value.user_count() == 0 ||
      nodes_.of(&value).role != FusionRole::kElementwise ||
      !AllUses(value, has_form)) {
    return;
  }
  std::vector<const Instruction*> members = {&value};
  const auto needed_here = [&](const Instruction* i) {
    if (nodes_.of(i).role != FusionRole::kElementwise || i->IsRoot() ||
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
  int64_t bytes_read = 0;
  for (size_t next = 0; next < members.size(); ++next) {
    for (const Instruction* o : members[next]->operands()) {
      if (std::find(members.begin(), members.end(), o) != members.end()) {
        continue;
      }
      if (members.size() < FusionNode::kMostOperations && needed_here(o)) {
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
        if (nodes_.of(o->operand(0)).role == FusionRole::kFree &&
            !o->operand(0)->IsConstant()) {
          return;
        }
      } else if (!o->IsConstant() && o->opcode() != Opcode::kIota) {
        // What a product makes in more bytes is finished behind it; on some
        // chips all that only this work reads.
        const bool product = nodes_.of(o).role == FusionRole::kDot;
        const bool wider = o->shape().ByteSize() > value.shape().ByteSize();
        if (product && (wider || (policy_.FinishesProducts() &&
                                  IsReadOnlyBy(*o, members)))) {
          return;
        }
        if (!IsPrologueArray(o->shape())) return;
        ++arrays;
        bytes_read += o->shape().ByteSize();
      }
    }
  }
  if (arrays == 0 || arrays > kMostArrays) return;
  int operations = 0;
  bool rounds = true;
  for (const Instruction* m : members) {
    operations += policy_.OperationsOf(*m);
    rounds &= m->opcode() == Opcode::kConvert;
  }
  if (value.user_count() > 1) {
    // What is only rounded for several is stored beside what is rounded.
    if (rounds || !policy_.IsRepeated(value, operations, bytes_read)) return;
  }
  claimed_.insert(members.begin(), members.end());
}

bool DotPrologues::FitsAllUses(const Instruction& value) const {
  return AllUses(value, [&](const Instruction& dot, int k) {
    return ArithmeticFits(dot, k);
  });
}

bool DotPrologues::Fits(const Instruction& dot, int operand) const {
  // The matrix that all members share is read as it lies, and members are where
  // others follow; those of a parameter are copied, as they may be to VMEM.
  if (dot.opcode() == Opcode::kDot) {
    const Instruction* matrix = SharedMatrix(dot, operand);
    if (matrix != nullptr) return nodes_.of(matrix).placed;
    if (const Instruction* members = SlicedMembers(dot, operand)) {
      return nodes_.of(members->operand(0)).placed &&
             !IsParameter(*members->operand(0));
    }
  }
  return ConvertsFit(dot, *dot.operand(operand)) ||
         ArithmeticFits(dot, operand);
}

// The MXU's operands are rounded on their way in anyway.
bool DotPrologues::ConvertsFit(const Instruction& product,
                               const Instruction& value) const {
  const FusionNode& work = nodes_.of(&value);
  if (work.role != FusionRole::kElementwise || work.many ||
      work.full.size() != 1 || work.operations > FusionNode::kMostOperations ||
      !work.full[0]->shape().SameDims(value.shape())) {
    return false;
  }
  const Instruction* source = &value;
  while (source->opcode() == Opcode::kConvert &&
         (source == &value || !nodes_.of(source).placed)) {
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
  // Windows of a convolution are of no such type.
  const bool takes = product.opcode() == Opcode::kDot;
  if (!wide(type) && !(narrow && takes)) return false;
  if (!wide(value.shape().type())) return false;
  const int64_t bytes = value.shape().ByteSize();
  const int64_t read = work.full[0]->shape().ByteSize();
  // Weights stay in memory as they are: twice the bytes are read, none
  // written.
  const bool weights = work.full[0]->opcode() == Opcode::kParameter;
  return read <= (weights ? 2 * bytes : bytes);
}

bool DotPrologues::ArithmeticFits(const Instruction& dot, int operand) const {
  const Instruction& value = *dot.operand(operand);
  const FusionNode& work = nodes_.of(&value);
  if (work.role != FusionRole::kElementwise || work.many || work.full.empty() ||
      work.full.size() > kMostArrays ||
      work.operations > FusionNode::kMostOperations || !IsProduct(dot) ||
      !PrologueForm(dot, operand)) {
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
    operations += policy_.OperationsOf(*open[next]);
    for (const Instruction* o : open[next]->operands()) {
      const FusionNode& below = nodes_.of(o);
      if (below.placed || o->IsConstant()) continue;
      if (o->opcode() == Opcode::kBroadcast) {
        if (!PrologueReads(dot, *o)) return false;
        if (!nodes_.of(o->operand(0)).placed && !o->operand(0)->IsConstant() &&
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
  if (!policy_.MayCompute(dot, operand)) return false;
  return IsClaimed(value) || value.user_count() == 1 ||
         policy_.IsRepeated(value, operations, read);
}

}  // namespace ptxla::hlo
