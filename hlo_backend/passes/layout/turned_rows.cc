#include "hlo_backend/passes/layout/turned_rows.h"

#include <algorithm>
#include <numeric>
#include <utility>

#include "chips/compiler_policy.h"
#include "hlo_backend/analysis/plane_gather.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/control_edges.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/layout/transposed.h"

namespace ptxla::hlo {
namespace {

// So many fewer bytes make up for what lying turned costs: each member's rows
// are weights that the arrays load.
bool AreFewEnough(int64_t turned, int64_t in_order) {
  return static_cast<double>(turned) <=
         chips::CompilerPolicy("turned_rows_share") *
             static_cast<double>(in_order);
}

// Rows of several dimensions as those of fewer.
bool JoinsRows(const Instruction& i) {
  if (i.opcode() != Opcode::kReshape || i.shape().rank() < 2) return false;
  const Shape& rows = i.operand(0)->shape();
  return rows.rank() > i.shape().rank() &&
         rows.dims().back() == i.shape().dims().back();
}

int64_t BytesOf(PrimitiveType type, const DimVector& dims, int generation) {
  return TpuBytes(Shape::Array(type, dims), generation);
}

bool LieFuller(PrimitiveType type, const DimVector& dims,
               const DimVector& order, int generation) {
  return AreFewEnough(BytesOf(type, Permuted(dims, order), generation),
                      BytesOf(type, dims, generation));
}

// What reads the product reads it in these dimensions, or it has them.
bool IsReadAs(const Instruction& dot, const DimVector& dims) {
  if (dot.shape().dims() == dims) return true;
  return !dot.IsRoot() &&
         std::all_of(dot.users().begin(), dot.users().end(),
                     [&](const Instruction* u) {
                       return u->opcode() == Opcode::kReshape &&
                              u->shape().dims() == dims;
                     });
}

// A transpose behind work on the product alone becomes one of its operands
// (simplify_transposed_dot.cc).
bool IsTurnedItself(const Instruction& dot) {
  const Instruction* value = &dot;
  while (value->user_count() == 1) {
    value = value->users()[0];
    if (value->opcode() == Opcode::kTranspose) return true;
    if (!value->IsElementwise() && value->opcode() != Opcode::kReshape) break;
  }
  return false;
}

// Columns of several dimensions that a reshape has parted are one again. Those
// of a parameter stay apart, as in the TPU compiler: what follows copies them
// together.
Instruction* WithOneFree(Builder& b, Instruction* matrix, int64_t contracted) {
  const Shape& shape = matrix->shape();
  if (matrix->opcode() != Opcode::kReshape || contracted != 0) return matrix;
  return b.Reshape(matrix, {shape.dim(0), shape.ElementCount() / shape.dim(0)});
}

}  // namespace

Instruction* RowsOfProduct(const Instruction& dot, int operand) {
  if (dot.opcode() != Opcode::kDot || dot.shape().has_layout()) return nullptr;
  Instruction* rows = dot.operand(operand);
  if (JoinsRows(*rows)) rows = rows->operand(0);
  return rows->opcode() == Opcode::kTranspose && rows->shape().rank() > 2
             ? rows
             : nullptr;
}

TurnedProduct MadeOfTurnedRows(Builder& b, Instruction* dot, int generation) {
  const TurnedProduct none = {nullptr, {}};
  Instruction* rows = RowsOfProduct(*dot);
  if (rows == nullptr || HasControlEdges(*dot)) return none;
  DotAttrs attrs = dot->attrs<DotAttrs>();
  Instruction* matrix = dot->operand(1);
  if (!attrs.sparsity.empty() || !attrs.lhs_batch.empty() ||
      attrs.lhs_contracting.size() != 1 ||
      attrs.lhs_contracting[0] != dot->operand(0)->shape().rank() - 1) {
    return none;
  }
  const int rank = rows->shape().rank(), members = rank - 2;
  const PrimitiveType type = dot->shape().type();
  const DimVector swap = LastTwoSwapped(rank);
  if (!LieFuller(rows->shape().type(), rows->shape().dims(), swap,
                 generation)) {
    return none;
  }
  const auto product_of = [&](const DimVector& dims, Instruction* left,
                              Instruction* right) {
    Instruction* product = dot->parent()->Add(
        Opcode::kDot, Shape::Array(type, dims), {left, right}, attrs);
    product->set_metadata(dot->shared_metadata());
    return product;
  };
  matrix = WithOneFree(b, matrix, attrs.rhs_contracting[0]);
  const DimVector free = Others(matrix->shape().rank(), attrs.rhs_contracting);
  DimVector result = rows->shape().dims();
  result.pop_back();
  for (int64_t d : free) result.push_back(matrix->shape().dim(d));
  const bool fuller = free.size() == 1 && IsReadAs(*dot, result) &&
                      LieFuller(type, result, swap, generation);
  if (!fuller && (rows->dimensions() != absl::MakeConstSpan(swap) ||
                  IsTurnedItself(*dot))) {
    return none;
  }
  Instruction* turned = Transposed(&b, rows, swap);
  if (!fuller) {
    attrs.lhs_contracting = {rank - 2};
    DimVector same(result.size());
    std::iota(same.begin(), same.end(), 0);
    return {product_of(result, turned, matrix), same};
  }
  attrs.lhs_batch.resize(members);
  std::iota(attrs.lhs_batch.begin(), attrs.lhs_batch.end(), 0);
  attrs.rhs_batch = attrs.lhs_batch;
  attrs.lhs_contracting = {members + attrs.rhs_contracting[0]};
  attrs.rhs_contracting = {members};
  auto& precision = attrs.precision.operands;
  if (precision.size() == 2) std::swap(precision[0], precision[1]);
  DimVector shared(result.begin(), result.begin() + members);
  for (int64_t size : matrix->shape().dims()) shared.push_back(size);
  Instruction* all = b.Broadcast(matrix, shared, {members, members + 1});
  return {product_of(Permuted(result, swap), all, turned), swap};
}

TurnedProduct MadeOfWholeRows(Instruction* dot) {
  Instruction* rows = RowsOfProduct(*dot);
  const DotAttrs& attrs = dot->attrs<DotAttrs>();
  if (rows == nullptr || HasControlEdges(*dot) || !attrs.sparsity.empty() ||
      !attrs.lhs_batch.empty() || dot->operand(1)->shape().rank() != 2 ||
      attrs.lhs_contracting != DimVector{dot->operand(0)->shape().rank() - 1}) {
    return {nullptr, {}};
  }
  const int rank = rows->shape().rank();
  const Shape& whole = rows->operand(0)->shape();
  if (rows->dimensions().back() != rank - 1 ||
      rows->shape().dim(rank - 2) % kTileRows == 0 ||
      whole.dim(rank - 2) % kTileRows != 0) {
    return {nullptr, {}};
  }
  DimVector dims(whole.dims().begin(), whole.dims().end());
  dims.back() = dot->shape().dims().back();
  Instruction* product =
      dot->parent()->AddLike(*dot, Shape::Array(dot->shape().type(), dims),
                             {rows->operand(0), dot->operand(1)});
  product->mutable_attrs<DotAttrs>()->lhs_contracting = {rank - 1};
  return {product,
          DimVector(rows->dimensions().begin(), rows->dimensions().end())};
}

Instruction* MadeOfContractedRows(Instruction* dot) {
  const Instruction* rows[] = {RowsOfProduct(*dot, 0), RowsOfProduct(*dot, 1)};
  if (rows[0] == nullptr || rows[1] == nullptr || HasControlEdges(*dot) ||
      rows[0]->dimensions() != rows[1]->dimensions()) {
    return nullptr;
  }
  DotAttrs attrs = dot->attrs<DotAttrs>();
  const int rank = rows[0]->shape().rank();
  DimVector contracted(dot->operand(0)->shape().rank() - 1);
  std::iota(contracted.begin(), contracted.end(), 0);
  if (!attrs.sparsity.empty() || !attrs.lhs_batch.empty() ||
      attrs.lhs_contracting != contracted ||
      attrs.rhs_contracting != contracted ||
      rows[0]->dimensions().back() != rank - 1) {
    return nullptr;
  }
  for (int d = 0; d + 1 < rank; ++d) {
    if (rows[0]->shape().dim(d) != rows[1]->shape().dim(d)) return nullptr;
  }
  contracted.resize(rank - 1);
  std::iota(contracted.begin(), contracted.end(), 0);
  attrs.lhs_contracting = attrs.rhs_contracting = contracted;
  Instruction* product = dot->parent()->AddLike(
      *dot, dot->shape(), {rows[0]->operand(0), rows[1]->operand(0)});
  *product->mutable_attrs<DotAttrs>() = std::move(attrs);
  return product;
}

bool LeavesLanesEmpty(const Instruction& transpose, int generation) {
  const auto comes_so = [](const Instruction& x) {
    return x.opcode() == Opcode::kDot || GathersPlanes(x) ||
           (x.opcode() == Opcode::kGetTupleElement &&
            x.operand(0)->opcode() == Opcode::kWhile);
  };
  if (transpose.opcode() != Opcode::kTranspose ||
      !comes_so(*transpose.operand(0)) || transpose.shape().rank() < 3 ||
      transpose.shape().has_layout()) {
    return false;
  }
  const Shape& from = transpose.operand(0)->shape();
  return AreFewEnough(
      BytesOf(from.type(), from.dims(), generation),
      BytesOf(from.type(), transpose.shape().dims(), generation));
}

}  // namespace ptxla::hlo
