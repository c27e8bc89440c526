#include "hlo_backend/passes/fusion/streamed_prologues.h"

#include <utility>
#include <vector>

#include "absl/algorithm/container.h"
#include "absl/container/flat_hash_map.h"
#include "hlo_backend/analysis/fusion_rules.h"
#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/swapped_dot.h"

namespace ptxla::hlo {
namespace {

const Instruction* BehindConverts(const Instruction* i) {
  while (i->opcode() == Opcode::kConvert) i = i->operand(0);
  return i;
}

// The weights are computed, and the left operand is read as it lies.
bool HasComputedWeights(const Instruction& dot) {
  return dot.operand(0)->opcode() == Opcode::kParameter &&
         BehindConverts(dot.operand(1))->opcode() != Opcode::kParameter;
}

// Work behind the product, of its dimensions: no broadcast of whole matrices.
bool MayBeTurned(const Instruction& i, const Instruction& dot) {
  if (!i.shape().SameDims(dot.shape())) return false;
  if (i.opcode() == Opcode::kBroadcast) {
    const int64_t matrix = i.shape().rank() - 2;
    return absl::c_count_if(i.dimensions(),
                            [&](int64_t d) { return d >= matrix; }) < 2;
  }
  if (&i == &dot || !i.IsElementwise()) return true;
  return absl::c_all_of(
      i.operands(), [&](const Instruction* o) { return MayBeTurned(*o, dot); });
}

// The product of a kernel that is nothing but one product of two matrices, or
// members of a batch, with elementwise work.
const Instruction* LoneDot(const Computation& fused) {
  const Instruction* dot = nullptr;
  for (const Instruction* i : fused.PostOrder()) {
    if (i->opcode() == Opcode::kDot) {
      if (dot != nullptr) return nullptr;
      dot = i;
    } else if (i->opcode() != Opcode::kParameter && !i->IsConstant() &&
               i->opcode() != Opcode::kBroadcast &&
               i->opcode() != Opcode::kIota && !IsLoopElementwise(*i)) {
      return nullptr;
    }
  }
  if (dot == nullptr || dot->shape().rank() != ProductBatch(*dot) + 2 ||
      !MayBeTurned(*fused.root(), *dot)) {
    return nullptr;
  }
  return dot;
}

// Makes the swapped kernel out of instructions beside the fusion.
class Swapper {
 public:
  Swapper(Instruction* fusion, const Instruction* dot, int generation)
      : fusion_(fusion),
        dot_(dot),
        c_(fusion->parent()),
        generation_(generation) {}

  void Run() {
    Instruction* root = Turned(fusion_->fused()->root());
    const auto metadata = fusion_->shared_metadata();
    c_->Replace(fusion_, TurnedAfter(root, fusion_->shape()));
    Instruction* swapped =
        c_->CreateFusion(group_, FusionKind::kOutput, "dot_fusion");
    if (metadata != nullptr) swapped->set_metadata(metadata);
  }

 private:
  Shape TurnedShape(const Shape& shape) const {
    DimVector dims(shape.dims().begin(), shape.dims().end());
    std::swap(dims[dims.size() - 1], dims[dims.size() - 2]);
    return WithTpuLayout(Shape::Array(shape.type(), dims), generation_);
  }

  static int64_t Moved(int64_t d, int64_t last) {
    return d < last - 1 ? d : 2 * last - 1 - d;
  }

  Instruction* TurnedAfter(Instruction* x, const Shape& shape) {
    Attributes permutation = DimensionsAttrs{LastTwoSwapped(shape.rank())};
    return c_->Add(Opcode::kTranspose, shape, {x}, std::move(permutation));
  }

  Instruction* Grouped(Instruction* i) {
    group_.push_back(i);
    return i;
  }

  // As it is in the kernel: work in front of the product.
  Instruction* Same(const Instruction* i) {
    if (i->opcode() == Opcode::kParameter) {
      return fusion_->operand(static_cast<int>(i->parameter_number()));
    }
    if (const auto it = same_.find(i); it != same_.end()) return it->second;
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(Same(o));
    return same_[i] = Grouped(c_->AddLike(*i, i->shape(), operands));
  }

  // What has the result's dimensions, with the last two swapped.
  Instruction* Turned(const Instruction* i) {
    if (const auto it = turned_.find(i); it != turned_.end()) return it->second;
    return turned_[i] = MakeTurned(i);
  }

  Instruction* MakeTurned(const Instruction* i) {
    const Shape shape = TurnedShape(i->shape());
    if (i->opcode() == Opcode::kParameter) return TurnedAfter(Same(i), shape);
    if (i == dot_) {
      Instruction* dot =
          c_->AddLike(*i, shape, {Same(i->operand(0)), Same(i->operand(1))});
      Instruction* swapped = SwappedDot(dot, shape);
      c_->Remove(dot);
      return Grouped(swapped);
    }
    const int last = shape.rank() - 1;
    if (i->opcode() == Opcode::kBroadcast) {
      Instruction* b = c_->AddLike(*i, shape, {Same(i->operand(0))});
      for (int64_t& d : b->mutable_attrs<DimensionsAttrs>()->dimensions) {
        d = Moved(d, last);
      }
      return Grouped(b);
    }
    if (i->opcode() == Opcode::kIota) {
      Instruction* iota = c_->AddLike(*i, shape, {});
      int64_t& d = iota->mutable_attrs<IotaAttrs>()->dimension;
      d = Moved(d, last);
      return Grouped(iota);
    }
    std::vector<Instruction*> operands;
    for (const Instruction* o : i->operands()) operands.push_back(Turned(o));
    return Grouped(c_->AddLike(*i, shape, operands));
  }

  Instruction* fusion_;
  const Instruction* dot_;
  Computation* c_;
  const int generation_;
  absl::flat_hash_map<const Instruction*, Instruction*> same_, turned_;
  std::vector<Instruction*> group_;
};

}  // namespace

absl::StatusOr<bool> StreamedProloguesPass::Run(Module* module,
                                                const PassContext& context) {
  if (module->config().is_scheduled || context.chip == nullptr) return false;
  const auto rows = context.chip->Policy("streamed_prologue_rows");
  if (!rows) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kFusion || HasControlEdges(*i) ||
          !i->shape().IsArray()) {
        continue;
      }
      const Instruction* dot = LoneDot(*i->fused());
      if (dot == nullptr || !HasComputedWeights(*dot) ||
          static_cast<double>(dot->shape().dim(dot->shape().rank() - 2)) <
              *rows) {
        continue;
      }
      Swapper(i, dot, context.chip->generation()).Run();
      changed = true;
    }
  }
  if (changed) module->RemoveUnusedComputations();
  return changed;
}

}  // namespace ptxla::hlo
