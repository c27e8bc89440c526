#include "hlo_backend/passes/row_fusion.h"

#include <algorithm>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/units.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/passes/control_flow.h"

namespace ptxla::hlo {
namespace {

constexpr int kMostMembers = 64;
// Share of the kernel's VMEM that the narrowest step may take: 16 rows of the
// result, with scratch, and the whole other operand.
constexpr double kVmemShare = 0.5;

bool IsRowMajor(const Shape& shape) {
  return shape.IsArray() &&
         (!shape.has_layout() || shape.layout().IsRowMajor());
}

bool Is32BitOrBf16(PrimitiveType type) {
  return type == PrimitiveType::kF32 || type == PrimitiveType::kBf16 ||
         type == PrimitiveType::kS32 || type == PrimitiveType::kU32;
}

class RowFuser {
 public:
  RowFuser(Computation* c, const PassContext& context)
      : c_(c), context_(context), order_(c->PostOrder()) {
    for (size_t n = 0; n < order_.size(); ++n) position_[order_[n]] = n;
  }

  bool Run() {
    bool changed = false;
    for (Instruction* i : order_) {
      if (taken_.contains(i) || i->opcode() != Opcode::kDot) continue;
      changed |= Fuse(i);
    }
    return changed;
  }

 private:
  enum class Kind { kNone, kFull, kRow, kFree };

  // What a member is: of the dot's shape, of its rows' shape, or constants,
  // broadcasts and iotas, cloned where they are needed.
  bool Fuse(Instruction* dot) {
    if (!Fits(*dot)) return false;
    members_.clear();
    tainted_.clear();
    dot_ = dot;
    members_[dot] = Kind::kFull;
    bool reduces = false;
    int count = 1;
    for (size_t n = position_[dot] + 1;
         n < order_.size() && count < kMostMembers; ++n) {
      Instruction* i = order_[n];
      bool reads = false, tainted = false;
      const auto look = [&](Instruction* o) {
        reads |= members_.contains(o);
        tainted |= tainted_.contains(o);
      };
      for (Instruction* o : i->operands()) look(o);
      for (Instruction* o : i->control_predecessors()) look(o);
      if (!reads && !tainted) continue;
      const Kind kind = reads && !tainted ? KindOf(*i) : Kind::kNone;
      if (kind == Kind::kNone) {
        // What needs it too cannot be inside.
        tainted_.insert(i);
        continue;
      }
      members_[i] = kind;
      reduces |= i->opcode() == Opcode::kReduce;
      ++count;
    }
    if (!reduces) return false;
    Trim();
    return Build();
  }

  // Whole rows fit, and the other operand beside them.
  bool Fits(const Instruction& dot) const {
    const Shape& shape = dot.shape();
    const DotAttrs& attrs = dot.attrs<DotAttrs>();
    if (shape.rank() < 2 || !IsRowMajor(shape) ||
        !IsRowMajor(dot.operand(0)->shape()) ||
        !IsRowMajor(dot.operand(1)->shape()) || dot.user_count() == 0 ||
        attrs.rhs_contracting.size() != 1 ||
        dot.operand(1)->shape().rank() !=
            static_cast<int>(attrs.rhs_batch.size()) + 2) {
      return false;
    }
    for (const Instruction* o : dot.operands()) {
      if (o->shape().type() != PrimitiveType::kBf16 &&
          o->shape().type() != PrimitiveType::kF32) {
        return false;
      }
    }
    const int64_t n = RoundUpTo<int64_t>(shape.dim(shape.rank() - 1), 128);
    const int64_t k = RoundUpTo<int64_t>(
        dot.operand(1)->shape().dim(attrs.rhs_contracting[0]), 128);
    // Two planes of scratch and two windows of a result.
    const int64_t bytes = 16 * n * 16 + 2 * 4 * n * k;
    return static_cast<double>(bytes) <=
           kVmemShare *
               static_cast<double>(context_.chip->vmem().scoped_limit.count());
  }

  bool IsRowShape(const Shape& s) const {
    const Shape& full = dot_->shape();
    if (s.rank() != full.rank() - 1) return false;
    for (int d = 0; d < s.rank(); ++d) {
      if (s.dim(d) != full.dim(d)) return false;
    }
    return true;
  }

  // A leaf: stored before the dot's rows are finished.
  bool IsLeafOf(const Instruction& o, bool full) const {
    if (members_.contains(&o)) return true;
    if (o.opcode() == Opcode::kBroadcast) {
      const Instruction* source = o.operand(0);
      const bool along_minor = source->shape().rank() == 1 &&
                               Is32BitOrBf16(source->shape().type()) &&
                               !members_.contains(source) &&
                               o.dimensions()[0] == o.shape().rank() - 1;
      return source->shape().IsScalar() || (full && along_minor);
    }
    if (o.IsConstant()) return o.shape().IsScalar();
    if (o.opcode() == Opcode::kIota) return false;
    return full && o.shape().SameDims(dot_->shape()) && IsRowMajor(o.shape()) &&
           BitWidth(o.shape().type()) <= 32;
  }

  Kind KindOf(const Instruction& i) const {
    if (!i.control_predecessors().empty() || !i.control_successors().empty()) {
      return Kind::kNone;
    }
    if (i.opcode() == Opcode::kReduce) {
      return IsRowReduce(i, *dot_) && members_.contains(i.operand(0))
                 ? Kind::kRow
                 : Kind::kNone;
    }
    if (i.opcode() == Opcode::kBroadcast) {
      if (!i.shape().SameDims(dot_->shape()) ||
          !IsRowShape(i.operand(0)->shape())) {
        return Kind::kNone;
      }
      for (int d = 0; d < i.operand(0)->shape().rank(); ++d) {
        if (i.dimensions()[d] != d) return Kind::kNone;
      }
      return Kind::kFull;
    }
    const bool full = i.shape().SameDims(dot_->shape());
    if (!IsLoopElementwise(i) || !IsRowMajor(i.shape()) ||
        (!full && !IsRowShape(i.shape()))) {
      return Kind::kNone;
    }
    for (const Instruction* o : i.operands()) {
      if (!IsLeafOf(*o, full)) return Kind::kNone;
    }
    return full ? Kind::kFull : Kind::kRow;
  }

  bool UsedOutside(const Instruction& i) const {
    if (i.IsRoot()) return true;
    return std::any_of(
        i.users().begin(), i.users().end(),
        [&](const Instruction* u) { return !members_.contains(u); });
  }

  // Values per row are no results: their users, and what makes them, leave.
  // Broadcasts of them neither.
  void Trim() {
    bool changed = true;
    while (changed) {
      changed = false;
      for (auto it = order_.rbegin(); it != order_.rend(); ++it) {
        Instruction* i = *it;
        const auto found = members_.find(i);
        if (found == members_.end() || i == dot_) continue;
        const bool row =
            found->second == Kind::kRow || i->opcode() == Opcode::kBroadcast;
        bool incomplete = false;
        for (Instruction* o : i->operands()) {
          incomplete |= removed_.contains(o);
        }
        if (!incomplete && !(row && UsedOutside(*i))) continue;
        members_.erase(found);
        removed_.insert(i);
        changed = true;
      }
    }
    removed_.clear();
  }

  // Clones of the constants and broadcasts that a member reads.
  Instruction* Inside(Instruction* value) {
    if (members_.contains(value)) return value;
    if (value->opcode() != Opcode::kBroadcast && !value->IsConstant()) {
      return value;
    }
    auto [it, is_new] = clones_.try_emplace(value, nullptr);
    if (!is_new) return it->second;
    std::vector<Instruction*> operands;
    for (Instruction* o : value->operands()) operands.push_back(Inside(o));
    Instruction* clone = c_->AddLike(*value, value->shape(), operands);
    clones_[value] = clone;
    group_.push_back(clone);
    return clone;
  }

  bool Build() {
    bool reduces = false;
    std::vector<Instruction*> members;
    for (Instruction* i : order_) {
      if (!members_.contains(i)) continue;
      reduces |= i->opcode() == Opcode::kReduce;
      members.push_back(i);
    }
    if (!reduces || UsedOutside(*dot_)) return false;
    clones_.clear();
    group_.clear();
    for (Instruction* i : members) {
      for (int k = 0; k < i->operand_count(); ++k) {
        if (i == dot_) break;
        Instruction* value = Inside(i->operand(k));
        if (value != i->operand(k)) i->ReplaceOperand(k, value);
      }
      group_.push_back(i);
      taken_.insert(i);
    }
    const auto metadata = dot_->shared_metadata();
    // A dead user would make a member a result.
    Instruction* fusion =
        c_->CreateFusion(group_, FusionKind::kOutput, "rows_fusion");
    if (metadata != nullptr) fusion->set_metadata(metadata);
    return true;
  }

  Computation* c_;
  const PassContext& context_;
  const std::vector<Instruction*> order_;
  absl::flat_hash_map<const Instruction*, size_t> position_;
  absl::flat_hash_set<const Instruction*> taken_;
  // Of the dot at hand.
  Instruction* dot_ = nullptr;
  absl::flat_hash_map<const Instruction*, Kind> members_;
  absl::flat_hash_set<const Instruction*> tainted_, removed_;
  absl::flat_hash_map<const Instruction*, Instruction*> clones_;
  std::vector<Instruction*> group_;
};

}  // namespace

absl::StatusOr<bool> RowFusionPass::Run(Module* module,
                                        const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    changed |= c->RemoveDead() > 0;
    changed |= RowFuser(c, context).Run();
  }
  return changed;
}

}  // namespace ptxla::hlo
