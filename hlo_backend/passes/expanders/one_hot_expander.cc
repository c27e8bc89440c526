#include "hlo_backend/passes/expanders/one_hot_expander.h"

#include <algorithm>

#include "hlo_backend/analysis/monoid.h"
#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/expanders/counting_indices.h"

namespace ptxla::hlo {
namespace {

DimVector Without(const DimVector& dims, int64_t dim) {
  DimVector rest;
  for (int64_t d = 0; d < static_cast<int64_t>(dims.size()); ++d) {
    if (d != dim) rest.push_back(dims[d]);
  }
  return rest;
}

bool IsAscending(const DimVector& dims) {
  return std::is_sorted(dims.begin(), dims.end());
}

// The one dimension of `x` that is indexed where all others are batching ones
// and each row has one index; -1: another form.
int64_t IndexedDim(const Shape& x, const Shape& indices,
                   const DimVector& indexed, const DimVector& removed,
                   const DimVector& window, const DimVector& batching,
                   const DimVector& indices_batching) {
  if (indexed.size() != 1 || removed != indexed || !window.empty() ||
      static_cast<int>(batching.size()) != x.rank() - 1 ||
      !IsAscending(batching) || !IsAscending(indices_batching)) {
    return -1;
  }
  if (BitWidth(indices.type()) > 32 || BitWidth(x.type()) > 32 ||
      x.type() == PrimitiveType::kPred || IsComplex(x.type())) {
    return -1;
  }
  const int64_t rows =
      x.ElementCount() / std::max<int64_t>(1, x.dim(indexed[0]));
  return indices.ElementCount() == rows ? indexed[0] : -1;
}

class OneHotExpander {
 public:
  explicit OneHotExpander(Instruction* i)
      : i_(i), b_(i->parent()), x_(i->operand(0)) {
    b_.set_metadata(i->shared_metadata());
  }

  Instruction* Scatter() {
    if (i_->operand_count() != 3) return nullptr;
    const auto& a = i_->attrs<ScatterAttrs>();
    const auto combine = MonoidOf(*i_->to_apply());
    if (!combine.has_value()) return nullptr;
    dim_ = IndexedDim(x_->shape(), i_->operand(1)->shape(),
                      a.scatter_dims_to_operand_dims, a.inserted_window_dims,
                      a.update_window_dims, a.input_batching_dims,
                      a.scatter_indices_batching_dims);
    if (dim_ < 0) return nullptr;
    Instruction* update = Wide(Rows(i_->operand(2)));
    return b_.Select(Matches(Rows(i_->operand(1))),
                     b_.Binary(*combine, x_, update), x_);
  }

 private:
  // One value per row, of the shape of `x` without the indexed dimension.
  Instruction* Rows(Instruction* value) {
    return b_.Reshape(value, Without(x_->shape().dims(), dim_));
  }
  Instruction* Wide(Instruction* rows) {
    DimVector to;
    for (int64_t d = 0; d < x_->shape().rank(); ++d) {
      if (d != dim_) to.push_back(d);
    }
    return b_.Broadcast(rows, x_->shape().dims(), to);
  }
  Instruction* Matches(Instruction* index) {
    const Shape positions =
        Shape::Array(index->shape().type(), x_->shape().dims());
    return b_.Compare(b_.Iota(positions, dim_), Wide(index),
                      CompareDirection::kEq);
  }

  Instruction* i_;
  Builder b_;
  Instruction* x_;
  int64_t dim_ = -1;
};

}  // namespace

absl::StatusOr<bool> OneHotExpanderPass::Run(Module* module,
                                             const PassContext&) {
  bool changed = false;
  for (Computation* c : module->computations()) {
    for (Instruction* i : c->PostOrder()) {
      if (i->opcode() != Opcode::kScatter) continue;
      Instruction* expanded = OneHotExpander(i).Scatter();
      if (expanded == nullptr) {
        Instruction* batched = WithoutCountingIndices(i);
        if (batched == nullptr) continue;
        expanded = OneHotExpander(batched).Scatter();
        if (expanded == nullptr) {
          c->Remove(batched);
          continue;
        }
      }
      c->Replace(i, expanded);
      changed = true;
    }
  }
  return changed;
}

}  // namespace ptxla::hlo
