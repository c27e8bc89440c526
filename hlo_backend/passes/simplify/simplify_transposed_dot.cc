// transpose(f(dot(a, b))), where f are elementwise instructions with no other
// user whose other operands are scalars, broadcasts or splats.
//
// The operand whose free dimensions end up behind becomes the right one. Free
// dimensions of one operand that change places among themselves do so in the
// operand, if that is no larger than the product: scores of grouped queries
// [keys, queries, group] become [group, queries, keys] by a transpose of the
// queries. Rows that are one matrix as they lie, of whole tiles, stay it. A
// transpose whose only user is a transpose waits for that one to
// take it in: together they may be none.
#include <algorithm>
#include <array>
#include <vector>

#include "hlo_backend/analysis/product_batch.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/products/score_order.h"
#include "hlo_backend/passes/simplify/simplify_rules.h"

namespace ptxla::hlo {
namespace {

// One operand: its dimensions by role, the free ones in the order of the
// product, whose dimensions they are from `first` on.
struct Side {
  Instruction* operand;
  DimVector batch, contracting, free;
  int first;
};

Side SideOf(Instruction* operand, const DimVector& batch,
            const DimVector& contracting, int first) {
  return {operand, batch, contracting,
          Others(operand->shape().rank(), batch, contracting), first};
}

// The side's dimensions of the product in the order in which `wish` has them.
DimVector Wished(const Side& side, absl::Span<const int64_t> wish) {
  DimVector order;
  for (int64_t d : wish) {
    const int64_t k = d - side.first;
    if (k >= 0 && k < static_cast<int64_t>(side.free.size())) {
      order.push_back(d);
    }
  }
  return order;
}

// The rows of a matrix that would no longer be one of whole tiles.
bool LosesWholeTiles(const Side& side, const DimVector& order) {
  const Shape& x = side.operand->shape();
  const auto size_of = [&](int64_t d) {
    return x.dim(static_cast<int>(side.free[d - side.first]));
  };
  return side.batch.empty() && side.contracting == DimVector{x.rank() - 1} &&
         x.dim(x.rank() - 2) % kTileRows == 0 &&
         size_of(order.back()) % kTileRows != 0;
}

// Transposes the operand so that its free dimensions follow one another as in
// `order`; the other dimensions stay where they are.
void PermuteFree(Side* side, const DimVector& order, Builder& b) {
  DimVector permutation(side->operand->shape().rank());
  for (size_t d = 0; d < permutation.size(); ++d) {
    permutation[d] = static_cast<int64_t>(d);
  }
  for (size_t k = 0; k < order.size(); ++k) {
    permutation[side->free[k]] = side->free[order[k] - side->first];
  }
  side->operand = b.Transpose(side->operand, permutation);
}

// The operand of elementwise work that is not made for nothing in any order;
// null if there is none or more than one.
Instruction* OnlyArray(const Instruction& work) {
  Instruction* array = nullptr;
  for (Instruction* o : work.operands()) {
    const bool is_free =
        o->shape().IsScalar() || o->opcode() == Opcode::kBroadcast ||
        (o->opcode() == Opcode::kConstant && o->literal().IsSplat());
    if (is_free || o == array) continue;
    if (array != nullptr) return nullptr;
    array = o;
  }
  return array;
}

}  // namespace

Instruction* SimplifyTransposedDot(Instruction* i, Rewriter& r) {
  if (i->user_count() == 1 && i->users()[0]->opcode() == Opcode::kTranspose &&
      !i->users()[0]->shape().has_layout()) {
    return nullptr;
  }
  std::vector<Instruction*> chain;
  Instruction* x = i->operand(0);
  while (x->IsElementwise() && x->user_count() == 1 && !HasControlEdges(*x)) {
    Instruction* array = OnlyArray(*x);
    if (array == nullptr) break;
    chain.push_back(x);
    x = array;
  }
  if (x->opcode() != Opcode::kDot || x->user_count() != 1 ||
      HasControlEdges(*x)) {
    return nullptr;
  }
  const DotAttrs& dot = x->attrs<DotAttrs>();
  if (!dot.sparsity.empty()) return nullptr;
  const int batch = static_cast<int>(dot.lhs_batch.size());
  Side left = SideOf(x->operand(0), dot.lhs_batch, dot.lhs_contracting, batch);
  Side right = SideOf(x->operand(1), dot.rhs_batch, dot.rhs_contracting,
                      batch + static_cast<int>(left.free.size()));
  if (left.free.empty() || right.free.empty()) return nullptr;

  const bool swap =
      i->dimensions().back() >= batch && i->dimensions().back() < right.first;
  bool changed = swap;
  DimVector order;  // of the new product's dimensions, by those of the old one
  for (int d = 0; d < batch; ++d) order.push_back(d);
  for (Side* side : swap ? std::array<Side*, 2>{&right, &left}
                         : std::array<Side*, 2>{&left, &right}) {
    DimVector free = Wished(*side, i->dimensions());
    if (!IsIncreasing(free) && !LosesWholeTiles(*side, free) &&
        side->operand->shape().ElementCount() <= x->shape().ElementCount()) {
      PermuteFree(side, free, r.builder());
      changed = true;
    } else {
      std::sort(free.begin(), free.end());
    }
    order.insert(order.end(), free.begin(), free.end());
  }
  if (!changed) return nullptr;

  DotAttrs attrs = dot;
  if (swap) {
    std::swap(left, right);
    std::swap(attrs.lhs_batch, attrs.rhs_batch);
    std::swap(attrs.lhs_contracting, attrs.rhs_contracting);
    if (attrs.precision.operands.size() == 2) {
      std::swap(attrs.precision.operands[0], attrs.precision.operands[1]);
    }
  }
  const DimVector dims = Permuted(x->shape().dims(), order);
  Instruction* value =
      i->parent()->Add(Opcode::kDot, Shape::Array(x->shape().type(), dims),
                       {left.operand, right.operand}, attrs);
  value->set_metadata(x->shared_metadata());
  CopyScoreOrder(*x, value);
  const bool shared =
      SharedMatrix(*x, 0) != nullptr || SharedMatrix(*x, 1) != nullptr;
  if (swap && batch > 0 && !shared) MarkKeysFirst(value);
  const Instruction* before = x;
  for (size_t k = chain.size(); k-- > 0;) {
    std::vector<Instruction*> operands;
    for (Instruction* o : chain[k]->operands()) {
      operands.push_back(o == before ? value
                         : o->shape().IsScalar()
                             ? o
                             : r.builder().Transpose(o, order));
    }
    value = i->parent()->AddLike(
        *chain[k], Shape::Array(chain[k]->shape().type(), dims), operands);
    before = chain[k];
  }
  DimVector rest;
  for (int64_t d : i->dimensions()) {
    rest.push_back(std::find(order.begin(), order.end(), d) - order.begin());
  }
  return IsIdentityMapping(rest) ? value : r.builder().Transpose(value, rest);
}

}  // namespace ptxla::hlo
