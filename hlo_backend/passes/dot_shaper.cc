#include "hlo_backend/passes/dot_shaper.h"

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/control_flow.h"
#include "hlo_backend/passes/dimension_utils.h"

namespace ptxla::hlo {
namespace {

constexpr int64_t kTileRows = 8;

// Several free dimensions on the left are rows of one matrix if nothing pads
// them.
bool AreRows(const Shape& lhs, const DotAttrs& a, size_t free) {
  if (free == 1) return true;
  const int rank = lhs.rank();
  return a.lhs_batch.empty() && a.lhs_contracting[0] == rank - 1 &&
         lhs.dim(rank - 2) % kTileRows == 0;
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

Instruction* Shaped(Instruction* dot) {
  const auto& a = dot->attrs<DotAttrs>();
  const Shape& l = dot->operand(0)->shape();
  const Shape& r = dot->operand(1)->shape();
  const DimVector lhs_free = Others(l.rank(), a.lhs_batch, a.lhs_contracting);
  const DimVector rhs_free = Others(r.rank(), a.rhs_batch, a.rhs_contracting);
  if (rhs_free.size() == 1 && !lhs_free.empty() &&
      IsInOrder(l, a.lhs_batch, a.lhs_contracting) &&
      IsInOrder(r, a.rhs_batch, a.rhs_contracting) &&
      AreRows(l, a, lhs_free.size())) {
    return nullptr;
  }
  Builder b(dot->parent());
  b.set_metadata(dot->shared_metadata());
  // [batch..., free, contracted]
  const auto matrix = [&](Instruction* x, const DimVector& batch,
                          const DimVector& free, const DimVector& contracted) {
    DimVector order = batch, dims;
    order.insert(order.end(), free.begin(), free.end());
    order.insert(order.end(), contracted.begin(), contracted.end());
    int64_t rows = 1, columns = 1;
    for (int64_t d : batch) dims.push_back(x->shape().dim(d));
    for (int64_t d : free) rows *= x->shape().dim(d);
    for (int64_t d : contracted) columns *= x->shape().dim(d);
    dims.push_back(rows);
    dims.push_back(columns);
    return b.Reshape(b.Transpose(x, order), dims);
  };
  Instruction* lhs =
      matrix(dot->operand(0), a.lhs_batch, lhs_free, a.lhs_contracting);
  Instruction* rhs =
      matrix(dot->operand(1), a.rhs_batch, rhs_free, a.rhs_contracting);
  const auto batch = static_cast<int64_t>(a.lhs_batch.size());
  DotAttrs attrs = a;
  attrs.lhs_batch.clear();
  DimVector dims;
  for (int64_t d = 0; d < batch; ++d) {
    attrs.lhs_batch.push_back(d);
    dims.push_back(lhs->shape().dim(d));
  }
  attrs.rhs_batch = attrs.lhs_batch;
  attrs.lhs_contracting = attrs.rhs_contracting = {batch + 1};
  dims.push_back(lhs->shape().dim(batch));
  dims.push_back(rhs->shape().dim(batch));
  Instruction* value = dot->parent()->Add(
      Opcode::kDot, Shape::Array(dot->shape().type(), dims), {lhs, rhs}, attrs);
  value->set_metadata(dot->shared_metadata());
  return b.Reshape(value, dot->shape().dims());
}

}  // namespace

absl::StatusOr<bool> DotShaperPass::Run(Module* module, const PassContext&) {
  bool changed = false;
  for (Computation* c : ControlComputations(*module)) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kDot || i->shape().has_layout() ||
          !i->attrs<DotAttrs>().sparsity.empty()) {
        continue;
      }
      Instruction* value = Shaped(i);
      if (value == nullptr) continue;
      c->Replace(i, value);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
