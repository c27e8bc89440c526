#include "hlo_backend/passes/products/dot_canonicalizer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/score_order.h"

namespace ptxla::hlo {
namespace {

// One side of a dot, with the roles of its dimensions.
struct Side {
  DimVector dims, batch, contracting, free;

  int rank() const { return static_cast<int>(dims.size()); }

  // Without dimension d, which has size 1 or has been joined with d - 1.
  void Erase(int64_t d) {
    dims.erase(dims.begin() + d);
    for (DimVector* list : {&batch, &contracting, &free}) {
      DimVector kept;
      for (int64_t k : *list) {
        if (k != d) kept.push_back(k > d ? k - 1 : k);
      }
      *list = kept;
    }
  }

  // Whether dimensions d and d + 1 may become one without moving bytes.
  bool MayJoin(int64_t d) const {
    if (d + 1 >= rank() - 1) return false;
    return d + 1 < rank() - 2 || dims[d + 1] % kTileRows == 0;
  }
  void Join(int64_t d) {
    dims[d] *= dims[d + 1];
    Erase(d + 1);
  }
};

class DotCanonicalizer {
 public:
  explicit DotCanonicalizer(Instruction* dot)
      : dot_(dot), attrs_(dot->attrs<DotAttrs>()) {
    lhs_ = MakeSide(dot->operand(0)->shape(), attrs_.lhs_batch,
                    attrs_.lhs_contracting);
    rhs_ = MakeSide(dot->operand(1)->shape(), attrs_.rhs_batch,
                    attrs_.rhs_contracting);
  }

  // The value that stands for the dot, or nullptr.
  Instruction* Run() {
    const bool changed =
        DropUnitDims() | SortContracting() | JoinContracting() | JoinFree();
    if (!changed) return nullptr;
    attrs_.lhs_batch = lhs_.batch;
    attrs_.lhs_contracting = lhs_.contracting;
    attrs_.rhs_batch = rhs_.batch;
    attrs_.rhs_contracting = rhs_.contracting;
    Builder b(dot_->parent());
    b.set_metadata(dot_->shared_metadata());
    auto shaped = [&](Instruction* x, const Side& side) {
      return x->shape().dims() == side.dims ? x : b.Reshape(x, side.dims);
    };
    Instruction* lhs = shaped(dot_->operand(0), lhs_);
    Instruction* rhs = shaped(dot_->operand(1), rhs_);
    DimVector dims;
    for (int64_t d : lhs_.batch) dims.push_back(lhs_.dims[d]);
    for (int64_t d : lhs_.free) dims.push_back(lhs_.dims[d]);
    for (int64_t d : rhs_.free) dims.push_back(rhs_.dims[d]);
    Instruction* value = dot_->parent()->Add(
        Opcode::kDot, Shape::Array(dot_->shape().type(), dims), {lhs, rhs},
        attrs_);
    value->set_metadata(dot_->shared_metadata());
    CopyScoreOrder(*dot_, value);
    return dims == dot_->shape().dims()
               ? value
               : b.Reshape(value, dot_->shape().dims());
  }

 private:
  static Side MakeSide(const Shape& shape, const DimVector& batch,
                       const DimVector& contracting) {
    return {shape.dims(), batch, contracting,
            Others(shape.rank(), batch, contracting)};
  }

  // Batch and contracting dimensions go in pairs.
  bool DropUnitPairs(DimVector Side::*list, size_t keep) {
    bool changed = false;
    for (size_t k = (lhs_.*list).size(); k-- > 0;) {
      if ((lhs_.*list).size() <= keep) break;
      if (lhs_.dims[(lhs_.*list)[k]] != 1) continue;
      lhs_.Erase((lhs_.*list)[k]);
      rhs_.Erase((rhs_.*list)[k]);
      changed = true;
    }
    return changed;
  }
  static bool DropUnitFree(Side* side) {
    bool changed = false;
    for (size_t k = side->free.size(); k-- > 0;) {
      if (side->free.size() <= 1) break;
      if (side->dims[side->free[k]] != 1) continue;
      side->Erase(side->free[k]);
      changed = true;
    }
    return changed;
  }
  bool DropUnitDims() {
    const bool batch = DropUnitPairs(&Side::batch, 0);
    const bool contracting = DropUnitPairs(&Side::contracting, 1);
    const bool free = DropUnitFree(&lhs_) | DropUnitFree(&rhs_);
    return batch || contracting || free;
  }

  // As they lie in the larger operand: what is contracted in another order than
  // it lies would have to be transposed. (jnp.einsum names the last first.)
  bool SortContracting() {
    std::vector<std::pair<int64_t, int64_t>> pairs;
    const bool by_lhs = Product(lhs_.dims) >= Product(rhs_.dims);
    for (size_t k = 0; k < lhs_.contracting.size(); ++k) {
      const int64_t l = lhs_.contracting[k], r = rhs_.contracting[k];
      pairs.emplace_back(by_lhs ? l : r, by_lhs ? r : l);
    }
    if (std::is_sorted(pairs.begin(), pairs.end())) return false;
    std::sort(pairs.begin(), pairs.end());
    for (size_t k = 0; k < pairs.size(); ++k) {
      lhs_.contracting[k] = by_lhs ? pairs[k].first : pairs[k].second;
      rhs_.contracting[k] = by_lhs ? pairs[k].second : pairs[k].first;
    }
    return true;
  }

  // Neighbours on both sides, in the same order.
  bool JoinContracting() {
    bool changed = false;
    for (size_t k = 0; k + 1 < lhs_.contracting.size();) {
      const int64_t l = lhs_.contracting[k], r = rhs_.contracting[k];
      if (lhs_.contracting[k + 1] == l + 1 &&
          rhs_.contracting[k + 1] == r + 1 && lhs_.MayJoin(l) &&
          rhs_.MayJoin(r)) {
        lhs_.Join(l);
        rhs_.Join(r);
        changed = true;
      } else {
        ++k;
      }
    }
    return changed;
  }

  // On the left only: the free dimensions of the right side are the minor ones
  // of the result.
  bool JoinFree() {
    if (rhs_.free.empty()) return false;
    bool changed = false;
    for (size_t k = 0; k + 1 < lhs_.free.size();) {
      const int64_t d = lhs_.free[k];
      // In the result the last free dimension of the left is the row.
      const bool rows =
          lhs_.dims[d + 1] % kTileRows == 0 || k + 2 < lhs_.free.size();
      if (lhs_.free[k + 1] == d + 1 && lhs_.MayJoin(d) && rows) {
        lhs_.Join(d);
        changed = true;
      } else {
        ++k;
      }
    }
    return changed;
  }

  Instruction* dot_;
  DotAttrs attrs_;
  Side lhs_, rhs_;
};

}  // namespace

namespace {

// The arrays sum integers in 32 bits; nullptr: it is so, or no integers.
Instruction* SummedInWords(Instruction* dot) {
  const PrimitiveType type = dot->shape().type();
  if (!IsInteger(type) || BitWidth(type) >= 32) return nullptr;
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Shape words = dot->shape();
  words.set_type(PrimitiveType::kS32);
  return b.Convert(dot->parent()->AddLike(*dot, words, dot->operands()), type);
}

}  // namespace

absl::StatusOr<bool> DotCanonicalizerPass::Run(Module* module,
                                               const PassContext&) {
  if (module->config().is_scheduled) return false;
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kDot || i->shape().has_layout() ||
          !i->attrs<DotAttrs>().sparsity.empty()) {
        continue;
      }
      Instruction* value = SummedInWords(i);
      if (value == nullptr) value = DotCanonicalizer(i).Run();
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
