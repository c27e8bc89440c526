#include "hlo_backend/passes/scheduled/product_core.h"

#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/expanders/wide_reduces.h"
#include "hlo_backend/passes/scheduled/plane_sums.h"
#include "hlo_backend/passes/scheduled/product_dims.h"
#include "hlo_backend/passes/scheduled/row_major.h"

namespace ptxla::hlo {
namespace {

bool IsBorder(const Instruction& i) {
  return i.opcode() == Opcode::kParameter ||
         (i.opcode() == Opcode::kBitcast &&
          i.operand(0)->opcode() == Opcode::kParameter);
}

// The same array behind views of it.
Instruction* BehindViews(Instruction* i) {
  Instruction* same = i;
  for (Instruction* x = i; x->opcode() == Opcode::kBitcast && !IsBorder(*x);) {
    x = x->operand(0);
    if (x->shape().type() == i->shape().type() &&
        x->shape().SameDims(i->shape())) {
      same = x;
    }
  }
  return same;
}

class Core {
 public:
  Core(Computation* c, int generation, bool sums)
      : c_(c), generation_(generation), sums_(sums) {}

  absl::Status Fuse(int outside, bool reduces) {
    for (Instruction* i : c_->PostOrder()) {
      if (!IsProduct(*i)) continue;
      if (dot_ != nullptr || i->opcode() != Opcode::kDot) return NoCore();
      dot_ = i;
    }
    if (dot_ == nullptr) return NoCore();
    FindBehind();
    for (int o = 0; o < 2; ++o) {
      if ((outside >> o & 1) == 0) continue;
      const Instruction* matrix = SharedMatrix(*dot_, o);
      const Instruction* value = matrix != nullptr ? matrix : dot_->operand(o);
      if (IsBorder(*value)) return NoCore();
      outside_.insert(value);
    }
    return FuseRoots(reduces);
  }

 private:
  static absl::Status NoCore() {
    return absl::UnimplementedError("no kernel around its product");
  }

  void FindBehind() {
    for (const Instruction* i : c_->PostOrder()) {
      bool behind = i == dot_;
      for (const Instruction* o : i->operands()) behind |= behind_.contains(o);
      if (behind) behind_.insert(i);
    }
  }

  // Results are views; what they are views of.
  std::vector<Instruction*> Results() const {
    std::vector<Instruction*> results;
    Instruction* root = c_->root();
    if (root->opcode() != Opcode::kTuple) return {root};
    for (Instruction* o : root->operands()) results.push_back(o);
    return results;
  }

  // What a kernel makes of the result beside it.
  bool IsMadeBeside(Instruction* i) const {
    if (i->opcode() != Opcode::kReduce || !behind_.contains(i)) return false;
    return IsMemberColumnReduce(*i, *dot_) || IsColumnReduce(*i, *dot_);
  }

  absl::Status FuseRoots(bool reduces) {
    std::vector<std::pair<Instruction*, Instruction*>> made;
    for (Instruction* result : Results()) {
      Instruction* value = result;
      while (value->opcode() == Opcode::kBitcast && !IsBorder(*value)) {
        value = value->operand(0);
      }
      value = BehindViews(value);
      if (!behind_.contains(value) || !value->shape().SameDims(dot_->shape())) {
        continue;
      }
      made.emplace_back(value, Inside(value));
      if (reduces_) return NoCore();
    }
    if (!reduces && sums_) AddReadOutside(&made);
    if (reduces_) return NoCore();
    const size_t whole = made.size();
    for (Instruction* i : c_->PostOrder()) {
      if (reduces && IsMadeBeside(i)) made.emplace_back(i, Inside(i));
    }
    const bool alone = group_.size() < 2;
    if (whole == 0 || (alone && !sums_) || reduces != (made.size() > whole)) {
      return NoCore();
    }
    for (const auto& [old, value] : made) {
      if (old != value) old->ReplaceAllUsesWith(value);
      if (old->IsRoot()) c_->SetRoot(value);
    }
    c_->RemoveDead();
    for (const Instruction* i : c_->instructions()) {
      if (i->opcode() == Opcode::kDot && i != inside_dot_) return NoCore();
    }
    if (alone) return absl::OkStatus();
    return CheckFusion(*c_->CreateFusion(group_, FusionKind::kOutput));
  }

  // Values of the product's shape that work outside goes on from.
  void AddReadOutside(
      std::vector<std::pair<Instruction*, Instruction*>>* made) {
    const auto is_inside = [&](const Instruction* user) {
      return behind_.contains(user) && user->IsElementwise() &&
             user->shape().SameDims(dot_->shape());
    };
    absl::flat_hash_set<const Instruction*> known;
    for (const auto& [old, value] : *made) known.insert(old);
    for (Instruction* i : c_->PostOrder()) {
      if (!behind_.contains(i) || known.contains(i) ||
          !i->shape().SameDims(dot_->shape()) ||
          i->opcode() == Opcode::kBitcast) {
        continue;
      }
      bool read = false;
      for (const Instruction* user : i->users()) {
        read |= !is_inside(user);
      }
      if (read) made->emplace_back(i, Inside(i));
    }
  }

  // A copy of the value's work for the kernel.
  Instruction* Inside(Instruction* i) {
    i = BehindViews(i);
    if (IsBorder(*i) || outside_.contains(i)) return i;
    if (const auto it = inside_.find(i); it != inside_.end()) return it->second;
    reduces_ |= i->opcode() == Opcode::kReduce;
    Instruction* copy = nullptr;
    if (i->opcode() == Opcode::kBroadcast && IsNarrowPerRow(*i)) {
      copy = Widened(*i);
    } else {
      std::vector<Instruction*> operands;
      for (Instruction* o : i->operands()) operands.push_back(Inside(o));
      copy = Add(c_->AddLike(*i, i->shape(), operands));
    }
    if (i == dot_) inside_dot_ = copy;
    return inside_[i] = copy;
  }

  Instruction* Add(Instruction* i) {
    group_.push_back(i);
    return i;
  }

  // Of 16 bits, for each row of the result.
  bool IsNarrowPerRow(const Instruction& broadcast) const {
    const int rank = broadcast.shape().rank();
    const Shape& source = broadcast.operand(0)->shape();
    if (source.type() != PrimitiveType::kBf16 || source.rank() == 0 ||
        !broadcast.shape().SameDims(dot_->shape())) {
      return false;
    }
    return broadcast.dimensions().back() == rank - 2;
  }

  Instruction* Widened(const Instruction& broadcast) {
    const auto wide = [&](Shape shape) {
      shape.set_type(PrimitiveType::kF32);
      return WithTpuLayout(shape, generation_);
    };
    Instruction* source = broadcast.operand(0);
    source = c_->Add(Opcode::kConvert, wide(source->shape()), {source});
    Instruction* rows =
        Add(c_->AddLike(broadcast, wide(broadcast.shape()), {source}));
    return Add(c_->Add(Opcode::kConvert, broadcast.shape(), {rows}));
  }

  Computation* c_;
  const int generation_;
  const bool sums_;  // of the product's planes, outside
  Instruction* dot_ = nullptr;
  Instruction* inside_dot_ = nullptr;
  absl::flat_hash_set<const Instruction*> behind_, outside_;
  absl::flat_hash_map<const Instruction*, Instruction*> inside_;
  std::vector<Instruction*> group_;
  bool reduces_ = false;
};

}  // namespace

bool PrepareProductCore(Computation* body, bool reduces, int generation) {
  if (reduces) WidenReduces(body, generation);
  MakeRowMajor(body, generation, /*shares=*/true);
  const bool sums = SumOverPlanes(body, generation);
  TakeProductDims(body, generation);
  return sums;
}

absl::Status FuseProductCore(Computation* body, int outside, bool reduces,
                             bool sums, int generation) {
  return Core(body, generation, sums).Fuse(outside, reduces);
}

}  // namespace ptxla::hlo
