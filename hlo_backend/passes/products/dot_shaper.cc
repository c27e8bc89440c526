#include "hlo_backend/passes/products/dot_shaper.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/contracted_planes.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/in_order.h"
#include "hlo_backend/passes/products/in_tiles.h"
#include "hlo_backend/passes/products/prefix_operands.h"
#include "hlo_backend/passes/products/scaled_product.h"
#include "hlo_backend/passes/products/score_order.h"
#include "hlo_backend/passes/products/size_of.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kTileK = 128;
// Members of a batch that share the right operand take its weights each for
// itself: a product of fewer rows has them on the MXU as long as it streams.
constexpr int64_t kMemberRows = 128;
// Where that operand is a small part of the largest array, it costs nothing.
constexpr int64_t kSmallShare = 8;

// Several free dimensions on the left are rows of one matrix if nothing pads
// them.
bool AreRows(const Shape& lhs, const DotAttrs& a, size_t free) {
  if (free == 1) return true;
  const int rank = lhs.rank();
  return a.lhs_batch.empty() && a.lhs_contracting[0] == rank - 1 &&
         lhs.dim(rank - 2) % kTileRows == 0;
}

// How many of the left free dimensions are batch members that share the right
// operand (analysis/product_batch.h): all but the last, or none. Softmax of
// grouped queries needs rows and members told apart, and rows that are padded
// in memory need not be joined.
size_t Sharing(const Instruction& dot, const DimVector& lhs_free) {
  const auto& a = dot.attrs<DotAttrs>();
  const Shape& l = dot.operand(0)->shape();
  if (lhs_free.size() < 2) return 0;
  const int64_t rows = l.dim(static_cast<int>(lhs_free.back()));
  // Rows that lie turned, in several planes, do not follow one another.
  const bool turned = a.lhs_contracting == DimVector{l.rank() - 2};
  if (a.lhs_batch.empty() && rows % kTileRows == 0 && !turned) return 0;
  if (rows >= kMemberRows) return lhs_free.size() - 1;
  if (a.lhs_batch.empty()) return 0;
  int64_t read = dot.operand(1)->shape().ElementCount();
  for (size_t k = 0; k + 1 < lhs_free.size(); ++k) {
    read *= l.dim(static_cast<int>(lhs_free[k]));
  }
  const int64_t most = std::max(l.ElementCount(), dot.shape().ElementCount());
  return read * kSmallShare <= most ? lhs_free.size() - 1 : 0;
}

// Batch dimensions first, in order; the contracted one among the two minor
// ones.
bool IsInOrder(const Shape& x, const DimVector& batch,
               const DimVector& contracting) {
  if (contracting.size() != 1 || contracting[0] + 2 < x.rank()) return false;
  for (size_t k = 0; k < batch.size(); ++k) {
    if (batch[k] != static_cast<int64_t>(k)) return false;
  }
  return true;
}

// Neither leaves anything behind that does nothing: fusions look for dots
// through no reshape.
Instruction* Reshaped(Builder& b, Instruction* x, const DimVector& dims) {
  return x->shape().dims() == dims ? x : b.Reshape(x, dims);
}

// Planes of K are taken one after another (analysis/contracted_planes.h), each
// padded to whole tiles of K for itself: a quarter more at most.
bool ContractsPlanes(const Instruction& dot) {
  const auto inner = MatrixContraction(dot);
  if (!inner) return false;
  const int64_t k = dot.operand(0)->shape().dim(
      static_cast<int>(dot.attrs<DotAttrs>().lhs_contracting[*inner]));
  return RoundUpTo<int64_t>(k, kTileK) * 4 <= k * 5;
}

// The dimension of an operand that lies minor: of a transpose that of what it
// reads.
int64_t LiesMinor(const Instruction& x) {
  const int64_t minor = x.shape().rank() - 1;
  if (x.opcode() != Opcode::kTranspose) return minor;
  const auto at =
      std::find(x.dimensions().begin(), x.dimensions().end(), minor);
  return at - x.dimensions().begin();
}

// With these dimensions as rows and columns.
int64_t InTilesOf(const Instruction& x, int64_t rows, int64_t columns) {
  return InTiles(SizeOf(x, rows), SizeOf(x, columns));
}

// A right operand whose batch lies minor is moved whatever its order: columns
// in the lanes, as the product takes them, if less is padded so.
bool IsSmallerTurned(const Instruction& x, const DimVector& batch,
                     const DimVector& free, const DimVector& contracted) {
  if (free.size() != 1 || contracted.size() != 1 ||
      !Contains(batch, LiesMinor(x))) {
    return false;
  }
  return InTilesOf(x, contracted[0], free[0]) <
         InTilesOf(x, free[0], contracted[0]);
}

// The same of one, which nobody else reads, that has its columns in the lanes
// and would take half as many tiles with K there: it is made so.
bool IsSmallerWithKMinor(const Instruction& x, const DimVector& batch,
                         const DimVector& free, const DimVector& contracted) {
  return free.size() == 1 && contracted.size() == 1 && x.user_count() == 1 &&
         contracted[0] < free[0] && Contains(batch, LiesMinor(x)) &&
         2 * InTilesOf(x, free[0], contracted[0]) <=
             InTilesOf(x, contracted[0], free[0]);
}

Instruction* Shaped(Instruction* dot) {
  const auto& a = dot->attrs<DotAttrs>();
  const Shape& l = dot->operand(0)->shape();
  const Shape& r = dot->operand(1)->shape();
  const DimVector lhs_free = Others(l.rank(), a.lhs_batch, a.lhs_contracting);
  const DimVector rhs_free = Others(r.rank(), a.rhs_batch, a.rhs_contracting);
  if (ContractsPlanes(*dot)) return nullptr;
  const size_t sharing = Sharing(*dot, lhs_free);
  if (rhs_free.size() == 1 && !lhs_free.empty() &&
      IsInOrder(l, a.lhs_batch, a.lhs_contracting) &&
      IsInOrder(r, a.rhs_batch, a.rhs_contracting) &&
      (sharing > 0 || AreRows(l, a, lhs_free.size())) &&
      !IsSmallerWithKMinor(*dot->operand(1), a.rhs_batch, rhs_free,
                           a.rhs_contracting)) {
    return nullptr;
  }
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  // [batch..., free, contracted], or with those two the other way round where
  // the minor dimension is a free one and may stay it.
  const auto matrix = [&](Instruction* x, const DimVector& of_batch,
                          const DimVector& free, const DimVector& contracted,
                          DimVector* contracting) {
    const bool free_last =
        !free.empty() && (free.back() == LiesMinor(*x) ||
                          (x == dot->operand(1) &&
                           IsSmallerTurned(*x, of_batch, free, contracted)));
    const DimVector& first = free_last ? contracted : free;
    const DimVector& last = free_last ? free : contracted;
    DimVector order = of_batch, dims;
    order.insert(order.end(), first.begin(), first.end());
    order.insert(order.end(), last.begin(), last.end());
    for (int64_t d : of_batch) dims.push_back(x->shape().dim(d));
    for (const DimVector* joined : {&first, &last}) {
      int64_t size = 1;
      for (int64_t d : *joined) size *= x->shape().dim(d);
      dims.push_back(size);
    }
    *contracting = {static_cast<int64_t>(of_batch.size()) +
                    (free_last ? 0 : 1)};
    // Members that share an array do so in any order of dimensions.
    Instruction* turned = IsIdentityMapping(order) ? x : InOrder(b, x, order);
    return Reshaped(b, turned, dims);
  };
  DotAttrs attrs = a;
  DimVector lhs_batch = a.lhs_batch;
  lhs_batch.insert(lhs_batch.end(), lhs_free.begin(),
                   lhs_free.begin() + static_cast<ptrdiff_t>(sharing));
  const DimVector rows(lhs_free.begin() + static_cast<ptrdiff_t>(sharing),
                       lhs_free.end());
  Instruction* lhs = matrix(dot->operand(0), lhs_batch, rows, a.lhs_contracting,
                            &attrs.lhs_contracting);
  Instruction* rhs = matrix(dot->operand(1), a.rhs_batch, rhs_free,
                            a.rhs_contracting, &attrs.rhs_contracting);
  const auto members = static_cast<int64_t>(lhs_batch.size());
  const auto batch = static_cast<int64_t>(a.lhs_batch.size());
  attrs.lhs_batch.clear();
  DimVector dims;
  for (int64_t d = 0; d < members; ++d) {
    if (d < batch) attrs.lhs_batch.push_back(d);
    dims.push_back(lhs->shape().dim(d));
  }
  attrs.rhs_batch = attrs.lhs_batch;
  dims.push_back(lhs->shape().dim(2 * members + 1 - attrs.lhs_contracting[0]));
  dims.push_back(rhs->shape().dim(2 * batch + 1 - attrs.rhs_contracting[0]));
  Instruction* value = dot->parent()->Add(
      Opcode::kDot, Shape::Array(dot->shape().type(), dims), {lhs, rhs}, attrs);
  value->set_metadata(dot->shared_metadata());
  CopyScoreOrder(*dot, value);
  return Reshaped(b, value, dot->shape().dims());
}

// Weights that are put into another order anyway.
bool IsMoved(const Instruction& weights) {
  return weights.opcode() == Opcode::kReshape ||
         weights.opcode() == Opcode::kTranspose;
}

// What is reshaped again behind a product's reshape is made of the product:
// columns of a unit and its gate that the program joins (bf16[m,2,n] to
// [m,2n]) are joined as it makes them. Whether `reshape` has been replaced so.
// Where the weights lie apart the TPU compiler makes the results apart, too,
// and copies them.
bool JoinReshapes(Instruction* reshape) {
  Computation* c = reshape->parent();
  Builder b(c);
  const std::vector<Instruction*> users(reshape->users().begin(),
                                        reshape->users().end());
  for (Instruction* u : users) {
    if (u->opcode() != Opcode::kReshape) continue;
    Instruction* product = reshape->operand(0);
    const auto dims = u->shape().dims();
    c->Replace(u, Reshaped(b, product, DimVector(dims.begin(), dims.end())));
  }
  if (reshape->user_count() > 0 || reshape->IsRoot()) return false;
  c->Remove(reshape);
  return true;
}

}  // namespace

absl::StatusOr<bool> DotShaperPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    // What is behind them is replaced, too.
    std::vector<Instruction*> dots;
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() == Opcode::kDot && !i->shape().has_layout() &&
          i->attrs<DotAttrs>().sparsity.empty()) {
        dots.push_back(i);
      }
    }
    PrefixOperands prefixes;
    for (Instruction* i : dots) {
      Instruction* whole = prefixes.Replaced(i);
      changed |= whole != i;
      i = whole;
      Instruction* value = Shaped(i);
      if (value == nullptr) continue;
      const bool moved = IsMoved(*i->operand(1));
      c->Replace(i, value);
      if (value->opcode() == Opcode::kReshape &&
          (!moved || !JoinReshapes(value))) {
        ScaleBeforeSplit(value);
      }
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
