#include "hlo_backend/passes/products/pooled_products.h"

#include <algorithm>

#include "hlo_backend/analysis/fusible_reduces.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/expanders/expand_each.h"

namespace ptxla::hlo {
namespace {

// [groups, rows, columns]; members of a group are reduced.
constexpr int kPooledRank = 3, kPooledDim = 1, kColumnDim = 2;

// A plain product of rows with a matrix.
bool IsOfRows(const Instruction& dot) {
  if (dot.opcode() != Opcode::kDot || HasControlEdges(dot) ||
      dot.shape().has_layout()) {
    return false;
  }
  const DotAttrs& attrs = dot.attrs<DotAttrs>();
  return attrs.lhs_batch.empty() && attrs.sparsity.empty() &&
         dot.operand(1)->shape().rank() == 2 &&
         attrs.lhs_contracting ==
             DimVector{dot.operand(0)->shape().rank() - 1} &&
         attrs.rhs_contracting.size() == 1;
}

bool PoolsRows(const Instruction& i) {
  return IsFusibleReduce(i) && i.shape().type() == PrimitiveType::kF32 &&
         i.dimensions() == absl::MakeConstSpan({int64_t{kPooledDim}});
}

// Read in the epilogue of a product: one number, or one for each column.
bool IsOfColumns(const Instruction& x) {
  if (x.opcode() == Opcode::kConstant) return x.literal().IsSplat();
  return x.opcode() == Opcode::kBroadcast &&
         (x.dimensions().empty() ||
          x.dimensions() == absl::MakeConstSpan({int64_t{kColumnDim}}));
}

// One thing is made of the value, behind elementwise work: it is pooled.
bool IsPooled(const Instruction& value) {
  const Instruction* last = &value;
  while (!last->IsRoot() && last->user_count() == 1) {
    const Instruction* user = last->users()[0];
    if (PoolsRows(*user)) return !HasControlEdges(*user);
    const bool goes_on =
        user->IsElementwise() && user->opcode() != Opcode::kCopy &&
        !HasControlEdges(*user) &&
        std::all_of(
            user->operands().begin(), user->operands().end(),
            [&](const Instruction* o) { return o == last || IsOfColumns(*o); });
    if (!goes_on) return false;
    last = user;
  }
  return false;
}

// In place of `pooled`, the product with its rows in groups; null: it is none.
Instruction* InGroups(Instruction* pooled) {
  const Shape& shape = pooled->shape();
  if (!shape.IsArray() || shape.rank() != kPooledRank ||
      shape.ElementCount() == 0 || shape.dim(0) == 1 ||
      shape.dim(kPooledDim) < kLanes) {
    return nullptr;
  }
  Instruction* dot = pooled;
  if (pooled->opcode() == Opcode::kReshape) {
    dot = pooled->operand(0);
    if (dot->user_count() != 1 || dot->shape().rank() != 2 ||
        dot->shape().dims().back() != shape.dim(kColumnDim)) {
      return nullptr;
    }
  }
  if (!IsOfRows(*dot) || !IsPooled(*pooled)) return nullptr;
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  Instruction* matrix = dot->operand(1);
  const int64_t depth = dot->operand(0)->shape().dims().back();
  Instruction* rows =
      b.Reshape(dot->operand(0), {shape.dim(0), shape.dim(kPooledDim), depth});
  Instruction* shared = b.Broadcast(
      matrix, {shape.dim(0), matrix->shape().dim(0), matrix->shape().dim(1)},
      {1, 2});
  DotAttrs attrs = dot->attrs<DotAttrs>();
  attrs.lhs_batch = attrs.rhs_batch = {0};
  attrs.lhs_contracting = {kPooledRank - 1};
  attrs.rhs_contracting = {1 + attrs.rhs_contracting[0]};
  Instruction* product =
      dot->parent()->Add(Opcode::kDot, shape, {rows, shared}, attrs);
  product->set_metadata(dot->shared_metadata());
  return product;
}

}  // namespace

absl::StatusOr<bool> PooledProductsPass::Run(Module* module,
                                             const PassContext&) {
  if (module->config().is_scheduled) return false;
  return ExpandEach(module, InGroups);
}

}  // namespace ptxla::hlo
