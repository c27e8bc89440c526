#include "hlo_backend/passes/scheduled/row_major_dot.h"

#include <utility>

#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"

namespace ptxla::hlo {
namespace {

// An operand with its dimensions by role.
struct Side {
  DimVector batch, contracting;  // places
  DimVector free;                // numbers in the result, as they lie
  Instruction* value;
};

Side SideOf(const RowMajorBody& body, const Instruction* x,
            const DimVector& batch, const DimVector& contracting,
            int64_t first) {
  Side side;
  const DimVector places = PlacesOf(x->shape());
  for (int64_t d : batch) side.batch.push_back(places[d]);
  for (int64_t d : contracting) side.contracting.push_back(places[d]);
  DimVector number(places.size(), -1);
  for (int64_t d : Others(x->shape().rank(), batch, contracting)) {
    number[d] = first++;
  }
  for (int64_t d : OrderOf(x->shape())) {
    if (number[d] >= 0) side.free.push_back(number[d]);
  }
  side.value = body.of(x);
  return side;
}

// The batch in front, in the order `batch` of its dimensions.
bool HasBatchFirst(const Side& side, const DimVector& batch) {
  for (size_t n = 0; n < batch.size(); ++n) {
    if (side.batch[batch[n]] != static_cast<int64_t>(n)) return false;
  }
  return true;
}

// `rows` are matrices (one, or one for each member of the batch, which lies as
// `batch` says) whose free dimension lies in front of the last one of
// `columns`: shared by the planes of that. Null: they are not.
Instruction* Shared(RowMajorBody* body, const Instruction* i,
                    const DimVector& batch, const Side& rows,
                    const Side& columns) {
  const auto nb = static_cast<int64_t>(batch.size());
  const auto planes = static_cast<int64_t>(columns.free.size()) - 1;
  if (planes < 1 || rows.free.size() != 1 || rows.contracting.size() != 1 ||
      columns.contracting[0] < nb + planes || !HasBatchFirst(rows, batch) ||
      !HasBatchFirst(columns, batch)) {
    return nullptr;
  }
  DimVector natural = batch;
  natural.insert(natural.end(), columns.free.begin(), columns.free.end());
  natural.insert(natural.end() - 1, rows.free[0]);
  if (natural != OrderOf(i->shape())) return nullptr;
  DotAttrs attrs = i->attrs<DotAttrs>();
  if (attrs.precision.operands.size() == 2 &&
      attrs.precision.operands[0] != attrs.precision.operands[1]) {
    return nullptr;
  }
  const Shape& matrix = rows.value->shape();
  DimVector dims, members, kept;
  for (int64_t d = 0; d < nb + planes; ++d) {
    members.push_back(d);
    if (d < nb) kept.push_back(d);
    dims.push_back(columns.value->shape().dim(static_cast<int>(d)));
  }
  for (const int64_t d : {nb, nb + 1}) {
    kept.push_back(planes + d);
    dims.push_back(matrix.dim(static_cast<int>(d)));
  }
  Instruction* shared = body->computation()->Add(
      Opcode::kBroadcast, body->Array(matrix.type(), dims), {rows.value},
      DimensionsAttrs{kept});
  attrs.lhs_batch = attrs.rhs_batch = members;
  attrs.lhs_contracting = {rows.contracting[0] + planes};
  attrs.rhs_contracting = columns.contracting;
  return body->Like(i, Opcode::kDot, RowMajorOf(i->shape()),
                    {shared, columns.value}, attrs);
}

}  // namespace

Instruction* RowMajorDot(const Instruction* i, bool shares,
                         RowMajorBody* body) {
  const DotAttrs& attrs = i->attrs<DotAttrs>();
  if (!attrs.sparsity.empty()) return nullptr;
  const auto batches = static_cast<int64_t>(attrs.lhs_batch.size());
  Side lhs = SideOf(*body, i->operand(0), attrs.lhs_batch,
                    attrs.lhs_contracting, batches);
  Side rhs =
      SideOf(*body, i->operand(1), attrs.rhs_batch, attrs.rhs_contracting,
             batches + static_cast<int64_t>(lhs.free.size()));
  // Batch dimensions in the order in which the result has them.
  const DimVector wanted = OrderOf(i->shape());
  DimVector natural;
  DotAttrs made = attrs;
  made.lhs_batch.clear();
  made.rhs_batch.clear();
  for (int64_t d : wanted) {
    if (d >= batches) continue;
    natural.push_back(d);
    made.lhs_batch.push_back(lhs.batch[d]);
    made.rhs_batch.push_back(rhs.batch[d]);
  }
  const auto with = [&](const Side& a, const Side& b) {
    DimVector all = natural;
    all.insert(all.end(), a.free.begin(), a.free.end());
    all.insert(all.end(), b.free.begin(), b.free.end());
    return all;
  };
  if (with(rhs, lhs) == wanted && with(lhs, rhs) != wanted) {
    std::swap(lhs, rhs);
    std::swap(made.lhs_batch, made.rhs_batch);
    if (made.precision.operands.size() == 2) {
      std::swap(made.precision.operands[0], made.precision.operands[1]);
    }
  }
  if (shares && with(lhs, rhs) != wanted) {
    for (const auto& [rows, columns] : {std::pair(&lhs, &rhs), {&rhs, &lhs}}) {
      Instruction* shared = Shared(body, i, natural, *rows, *columns);
      if (shared != nullptr) return shared;
    }
  }
  made.lhs_contracting = lhs.contracting;
  made.rhs_contracting = rhs.contracting;
  return body->Result(i, Opcode::kDot, {lhs.value, rhs.value}, made,
                      with(lhs, rhs));
}

}  // namespace ptxla::hlo
