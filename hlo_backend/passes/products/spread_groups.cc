#include "hlo_backend/passes/products/spread_groups.h"

#include <utility>
#include <vector>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

// Dimensions of the right operand, those of the batch first.
DimVector OrderOfMatrices(const DotAttrs& attrs) {
  DimVector order = attrs.rhs_batch;
  const auto rank = static_cast<int64_t>(order.size()) + 2;
  for (int64_t d = 0; d < rank; ++d) {
    if (!Contains(attrs.rhs_batch, d)) order.push_back(d);
  }
  return order;
}

// The left operand with planes of rows, where they lie in `attrs` then: itself,
// or what a reshape has made rows of one matrix of.
Instruction* InPlanes(const Instruction& dot, DotAttrs* attrs) {
  Instruction* lhs = dot.operand(0);
  const auto batch = static_cast<int>(attrs->lhs_batch.size());
  const int rank = lhs->shape().rank();
  if (rank > batch + 2) return lhs;
  if (lhs->opcode() != Opcode::kReshape || HasControlEdges(*lhs)) {
    return nullptr;
  }
  Instruction* planes = lhs->operand(0);
  const int more = planes->shape().rank() - rank;
  if (more < 1 || attrs->lhs_contracting[0] != rank - 1 ||
      planes->shape().dims().back() != lhs->shape().dims().back()) {
    return nullptr;
  }
  for (int d = 0; d < batch; ++d) {
    if (attrs->lhs_batch[d] != d ||
        planes->shape().dim(d) != lhs->shape().dim(d)) {
      return nullptr;
    }
  }
  attrs->lhs_contracting[0] += more;
  return planes;
}

}  // namespace

bool SharesPlanes(const Instruction& dot) {
  DotAttrs attrs = dot.attrs<DotAttrs>();
  return !attrs.lhs_batch.empty() && attrs.lhs_contracting.size() == 1 &&
         dot.operand(1)->shape().rank() ==
             static_cast<int>(attrs.lhs_batch.size()) + 2 &&
         dot.operand(0) != dot.operand(1) && !dot.shape().has_layout() &&
         attrs.sparsity.empty() && !HasControlEdges(dot) && !dot.IsRoot() &&
         InPlanes(dot, &attrs) != nullptr;
}

Instruction* SpreadProduct(Instruction* dot) {
  DotAttrs attrs = dot->attrs<DotAttrs>();
  const auto batch = static_cast<int>(attrs.lhs_batch.size());
  Instruction* lhs = InPlanes(*dot, &attrs);
  DimVector rows;  // planes, and the rows of each
  for (int64_t d = 0; d < lhs->shape().rank(); ++d) {
    if (!Contains(attrs.lhs_batch, d) && d != attrs.lhs_contracting[0]) {
      rows.push_back(d);
    }
  }
  const auto planes = static_cast<int64_t>(rows.size()) - 1;

  // The shared matrices, one for each member of the batch, and those that each
  // plane reads.
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  const DimVector order = OrderOfMatrices(attrs);
  const bool k_first = order[batch] == attrs.rhs_contracting[0];
  Instruction* matrices = IsIncreasing(order)
                              ? dot->operand(1)
                              : b.Transpose(dot->operand(1), order);
  DimVector dims, places;
  for (int d = 0; d < batch + 2; ++d) {
    if (d == batch) {
      for (int64_t p = 0; p < planes; ++p) {
        dims.push_back(lhs->shape().dim(static_cast<int>(rows[p])));
      }
    }
    places.push_back(static_cast<int64_t>(dims.size()));
    dims.push_back(matrices->shape().dim(d));
  }
  DimVector result(dims.begin(), dims.end() - 2);
  result.push_back(lhs->shape().dim(static_cast<int>(rows.back())));
  result.push_back(matrices->shape().dim(batch + (k_first ? 1 : 0)));

  attrs.rhs_batch.clear();
  for (int64_t d = 0; d < batch + planes; ++d) attrs.rhs_batch.push_back(d);
  attrs.rhs_contracting[0] = batch + planes + (k_first ? 0 : 1);
  attrs.lhs_batch.insert(attrs.lhs_batch.end(), rows.begin(), rows.end() - 1);
  Instruction* product =
      dot->parent()->AddLike(*dot, Shape::Array(dot->shape().type(), result),
                             {lhs, b.Broadcast(matrices, dims, places)});
  *product->mutable_attrs<DotAttrs>() = std::move(attrs);
  return product;
}

Instruction* SpreadGroups(Instruction* dot) {
  Instruction* product = SpreadProduct(dot);
  Computation* c = dot->parent();
  const std::vector<Instruction*> users(dot->users().begin(),
                                        dot->users().end());
  for (Instruction* user : users) {
    if (user->opcode() == Opcode::kReshape && !HasControlEdges(*user) &&
        user->shape().SameDims(product->shape())) {
      c->Replace(user, product);
    }
  }
  if (dot->users().empty()) {
    c->Remove(dot);
  } else if (product->shape().SameDims(dot->shape())) {
    c->Replace(dot, product);
  } else {
    Builder b(c);
    b.set_metadata(dot->shared_metadata());
    c->Replace(dot, b.Reshape(product, dot->shape().dims()));
  }
  return product;
}

}  // namespace ptxla::hlo
