#include "hlo_backend/passes/layout/lane_joins.h"

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/vector_loops.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kLanes = 128;
// Kernels stay small: operations of all parts.
constexpr size_t kMostOperations = 24;
// What is repeated along lanes is so many times smaller than the result.
constexpr int64_t kSmallShare = 8;

class Join {
 public:
  Join(Computation* c, Instruction* whole)
      : c_(c), b_(c), whole_(whole), width_(whole->shape().dims().back()) {
    b_.set_metadata(whole->shared_metadata());
  }

  bool Fits() {
    int64_t offset = 0;
    for (const Instruction* part : whole_->operands()) {
      if (!Check(*part, offset)) return false;
      offset += part->shape().dims().back();
    }
    if (work_.empty() || !slices_ || work_.size() > kMostOperations) {
      return false;
    }
    for (const Instruction* i : work_) {
      if (i->IsRoot()) return false;
      for (const Instruction* user : i->users()) {
        if (user != whole_ && !work_.contains(user)) return false;
      }
    }
    return true;
  }

  Instruction* OnWholeRows() {
    Instruction* value = nullptr;
    int64_t offset = 0;
    for (Instruction* part : whole_->operands()) {
      Instruction* wide = Wide(part, offset);
      value = value == nullptr ? wide : Select(offset, value, wide);
      offset += part->shape().dims().back();
    }
    return value;
  }

 private:
  static bool IsWork(const Instruction& i) {
    return IsLoopElementwise(i) && i.opcode() != Opcode::kCopy &&
           i.operand_count() > 0 && i.control_predecessors().empty() &&
           i.control_successors().empty();
  }

  // Does a broadcast's source differ from lane to lane?
  static bool AlongLanes(const Instruction& broadcast) {
    return !broadcast.dimensions().empty() &&
           broadcast.dimensions().back() == broadcast.shape().rank() - 1 &&
           broadcast.operand(0)->shape().dims().back() > 1;
  }

  bool Check(const Instruction& i, int64_t offset) {
    switch (i.opcode()) {
      case Opcode::kSlice:
        slices_ = true;
        return IsLaneSlice(i) &&
               i.operand(0)->shape().SameDims(whole_->shape());
      case Opcode::kBroadcast: {
        if (!HasVectorTypes(i)) return false;
        if (!AlongLanes(i)) return true;
        const int64_t part = i.shape().dims().back();
        return IsIncreasing(i.dimensions()) && width_ % part == 0 &&
               offset % part == 0 &&
               kSmallShare * i.operand(0)->shape().ElementCount() <=
                   i.shape().ElementCount();
      }
      case Opcode::kConstant:
        return i.literal().IsSplat();
      default:
        break;
    }
    if (!IsWork(i)) return false;
    if (!checked_.insert({&i, offset}).second) return true;
    if (work_.insert(&i).second && work_.size() > kMostOperations) return false;
    for (const Instruction* o : i.operands()) {
      if (o->shape().IsScalar()) continue;
      if (!o->shape().SameDims(i.shape()) || !Check(*o, offset)) return false;
    }
    return true;
  }

  DimVector WideDims(const Shape& shape) const {
    DimVector dims = shape.dims();
    dims.back() = width_;
    return dims;
  }

  // An array of the result's width whose lanes from `offset` on are those of
  // `i`; others may hold anything.
  Instruction* Wide(Instruction* i, int64_t offset) {
    const std::pair<const Instruction*, int64_t> key(i, offset);
    if (const auto it = wide_.find(key); it != wide_.end()) return it->second;
    Instruction* value = MakeWide(i, offset);
    wide_[key] = value;
    return value;
  }

  Instruction* MakeWide(Instruction* i, int64_t offset) {
    switch (i->opcode()) {
      case Opcode::kSlice:
        return Turned(i->operand(0),
                      i->attrs<SliceAttrs>().starts.back() - offset);
      case Opcode::kBroadcast: {
        Instruction* source = i->operand(0);
        if (AlongLanes(*i)) source = Repeated(source);
        return b_.Broadcast(source, WideDims(i->shape()), i->dimensions());
      }
      case Opcode::kConstant: {
        Instruction* scalar =
            b_.Reshape(b_.Slice(i, DimVector(i->shape().rank(), 0),
                                DimVector(i->shape().rank(), 1)),
                       {});
        return b_.BroadcastScalar(scalar, WideDims(i->shape()));
      }
      default:
        break;
    }
    std::vector<Instruction*> operands;
    for (Instruction* o : i->operands()) {
      operands.push_back(o->shape().IsScalar() ? o : Wide(o, offset));
    }
    return c_->AddLike(
        *i, Shape::Array(i->shape().type(), WideDims(i->shape())), operands);
  }

  // Lane l of the result is lane l + by of `x`.
  Instruction* Turned(Instruction* x, int64_t by) {
    by = (by % width_ + width_) % width_;
    if (by == 0) return x;
    Instruction*& value = turned_[{x, by}];
    if (value != nullptr) return value;
    DimVector starts(x->shape().rank(), 0), limits = x->shape().dims();
    limits.back() = by;
    Instruction* first = b_.Slice(x, starts, limits);
    starts.back() = by;
    limits.back() = width_;
    value = b_.Concatenate({b_.Slice(x, starts, limits), first},
                           x->shape().rank() - 1);
    return value;
  }

  Instruction* Repeated(Instruction* x) {
    Instruction*& value = repeated_[x];
    if (value == nullptr) {
      const std::vector<Instruction*> copies(width_ / x->shape().dims().back(),
                                             x);
      value = b_.Concatenate(copies, x->shape().rank() - 1);
    }
    return value;
  }

  // Lanes before `border` of the one, others of the other.
  Instruction* Select(int64_t border, Instruction* before, Instruction* from) {
    const DimVector& dims = whole_->shape().dims();
    Instruction* lane = b_.Iota(Shape::Array(PrimitiveType::kS32, dims),
                                static_cast<int64_t>(dims.size()) - 1);
    Instruction* limit = b_.BroadcastScalar(
        b_.ConstantScalar(PrimitiveType::kS32, static_cast<double>(border)),
        dims);
    return b_.Select(b_.Compare(lane, limit, CompareDirection::kLt), before,
                     from);
  }

  Computation* c_;
  Builder b_;
  Instruction* const whole_;
  const int64_t width_;
  absl::flat_hash_set<const Instruction*> work_;
  // Work that several parts of it read is looked at once.
  absl::flat_hash_set<std::pair<const Instruction*, int64_t>> checked_;
  bool slices_ = false;
  std::map<std::pair<const Instruction*, int64_t>, Instruction*> wide_, turned_;
  absl::flat_hash_map<const Instruction*, Instruction*> repeated_;
};

bool IsOfLanes(const Instruction& i) {
  return i.opcode() == Opcode::kConcatenate && i.shape().rank() >= 2 &&
         !i.shape().has_layout() && HasVectorTypes(i) &&
         i.dimensions()[0] == i.shape().rank() - 1 &&
         i.shape().dims().back() <= kLanes && i.operand_count() > 1 &&
         i.control_predecessors().empty() && i.control_successors().empty() &&
         (i.shape().type() == PrimitiveType::kF32 ||
          i.shape().type() == PrimitiveType::kBf16);
}

}  // namespace

absl::StatusOr<bool> LaneJoinsPass::Run(Module* module, const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    bool here = false;
    for (Instruction* i : c->PostOrder()) {
      if (!IsOfLanes(*i)) continue;
      Join join(c, i);
      if (!join.Fits()) continue;
      c->Replace(i, join.OnWholeRows());
      here = true;
    }
    if (here) c->RemoveDead();
    changed |= here;
  }
  return changed;
}

}  // namespace ptxla::hlo
