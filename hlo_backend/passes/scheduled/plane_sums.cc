#include "hlo_backend/passes/scheduled/plane_sums.h"

#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {
namespace {

// The product with its contracted planes as dimensions of the batch, or false:
// they are not those behind the batch of both operands.
bool AsBatch(const Instruction& dot, DotAttrs* attrs) {
  const auto nb = static_cast<int64_t>(attrs->lhs_batch.size());
  const auto planes = static_cast<int64_t>(attrs->lhs_contracting.size()) - 1;
  if (nb == 0 || planes < 1 || !attrs->sparsity.empty()) return false;
  for (int64_t d = 0; d < nb; ++d) {
    if (attrs->lhs_batch[d] != d || attrs->rhs_batch[d] != d) return false;
  }
  for (int o = 0; o < 2; ++o) {
    if (dot.operand(o)->shape().rank() != nb + planes + 2) return false;
  }
  DimVector lhs, rhs;
  for (int64_t k = 0; k <= planes; ++k) {
    const int64_t left = attrs->lhs_contracting[k];
    const int64_t right = attrs->rhs_contracting[k];
    if (left >= nb + planes && right >= nb + planes) {
      lhs.push_back(left);
      rhs.push_back(right);
    } else if (left != right) {
      return false;
    } else {
      attrs->lhs_batch.push_back(left);
      attrs->rhs_batch.push_back(right);
    }
  }
  attrs->lhs_contracting = lhs;
  attrs->rhs_contracting = rhs;
  // Planes in another order than they lie in would be no batch of a kernel.
  for (size_t d = 0; d < attrs->lhs_batch.size(); ++d) {
    if (attrs->lhs_batch[d] != static_cast<int64_t>(d)) return false;
  }
  return lhs.size() == 1;
}

void Split(Instruction* dot, const DotAttrs& attrs, int generation) {
  Computation* c = dot->parent();
  const PrimitiveType wide = PrimitiveType::kF32;
  const auto nb = static_cast<int64_t>(dot->attrs<DotAttrs>().lhs_batch.size());
  const auto all = static_cast<int64_t>(attrs.lhs_batch.size());
  const Shape& shape = dot->shape();
  DimVector dims(shape.dims().begin(), shape.dims().end()), planes;
  for (int64_t d = nb; d < all; ++d) {
    planes.push_back(d);
    dims.insert(dims.begin() + d,
                dot->operand(0)->shape().dim(static_cast<int>(d)));
  }
  const auto array = [&](const DimVector& of) {
    return WithTpuLayout(Shape::Array(wide, of), generation);
  };
  Builder body(c->module()->AddComputation("sum"));
  Instruction* x = body.Parameter(0, Shape::Array(wide, {}));
  body.Add(x, body.Parameter(1, Shape::Array(wide, {})));
  Instruction* parts = c->Add(Opcode::kDot, array(dims),
                              {dot->operand(0), dot->operand(1)}, attrs);
  parts->set_metadata(dot->shared_metadata());
  Instruction* zero = c->AddConstant(Literal::Scalar<float>(0));
  *zero->mutable_shape() = WithTpuLayout(zero->shape(), generation);
  Shape sum = shape;
  sum.set_type(wide);
  Instruction* whole =
      c->Add(Opcode::kReduce, WithTpuLayout(sum, generation), {parts, zero},
             DimensionsAttrs{planes}, {body.computation()});
  c->Replace(dot, shape.type() == wide
                      ? whole
                      : c->Add(Opcode::kConvert, shape, {whole}));
}

}  // namespace

bool SumOverPlanes(Computation* c, int generation) {
  bool changed = false;
  for (Instruction* i : c->PostOrder()) {
    if (i->opcode() != Opcode::kDot || !IsFloat(i->shape().type())) continue;
    DotAttrs attrs = i->attrs<DotAttrs>();
    if (!AsBatch(*i, &attrs)) continue;
    Split(i, attrs, generation);
    changed = true;
  }
  if (changed) c->Reorder(c->PostOrder());
  return changed;
}

}  // namespace ptxla::hlo
