// ragged-dot: a product whose ragged dimension of lhs falls into consecutive
// groups of group_sizes elements.
//
//   free        each group's rows are multiplied with the group's own part of
//               rhs; rows beyond all groups give 0
//   contracted  each group gives a product of its own, in a new major
//               dimension of the result
//   batch       the plain product
//
// group_sizes is [groups], or has the sizes for each index of the dimensions
// before the ragged one (batch dimensions first) in front.
#include <algorithm>

#include "base/status.h"
#include "hlo_backend/evaluator/matrix_product.h"
#include "hlo_backend/evaluator/product.h"
#include "hlo_backend/evaluator/strided.h"
#include "hlo_backend/evaluator/value_parts.h"
#include "hlo_backend/ir/dimensions.h"

namespace ptxla::hlo {
namespace {

int64_t PositionIn(const DimVector& list, int64_t value) {
  return std::find(list.begin(), list.end(), value) - list.begin();
}

// Which dimensions of lhs have group sizes of their own, and where each
// dimension of lhs is in the result.
struct RaggedPlan {
  int64_t ragged = 0;  // dimension of lhs
  bool contracted = false;
  DimVector prefix;
  DimVector out_dim;  // of each dimension of lhs; -1: contracted
};

RaggedPlan PlanFor(const RaggedDotAttrs& attrs, int lhs_rank) {
  RaggedPlan plan;
  const DotAttrs& dot = attrs.dot;
  plan.ragged = attrs.lhs_ragged[0];
  plan.contracted = Contains(dot.lhs_contracting, plan.ragged);
  plan.prefix = dot.lhs_batch;
  plan.out_dim.assign(lhs_rank, -1);
  int64_t next = plan.contracted ? 1 : 0;
  for (int64_t d : dot.lhs_batch) plan.out_dim[d] = next++;
  for (int d = 0; d < lhs_rank; ++d) {
    if (Contains(dot.lhs_batch, d) || Contains(dot.lhs_contracting, d)) {
      continue;
    }
    if (!plan.contracted && d < plan.ragged) plan.prefix.push_back(d);
    plan.out_dim[d] = next++;
  }
  return plan;
}

}  // namespace

absl::StatusOr<Value> EvalRaggedDot(OpContext& context, const Instruction& i,
                                    absl::Span<Value> operands) {
  return RaggedProduct(context, i, i.attrs<RaggedDotAttrs>(), operands);
}

absl::StatusOr<Value> RaggedProduct(OpContext& context, const Instruction& i,
                                    const RaggedDotAttrs& attrs,
                                    absl::Span<Value> operands) {
  DotAttrs dot = attrs.dot;
  const Value lhs = operands[0].Dense();
  const Value rhs = operands[1].Dense();
  const Value& sizes = operands[2];
  const RaggedPlan plan = PlanFor(attrs, lhs.shape().rank());
  const PrimitiveType type =
      ProductType(lhs.type(), rhs.type(), i.shape().type());
  const DimVector& out_dims = i.shape().dims();
  if (Contains(dot.lhs_batch, plan.ragged)) {
    ASSIGN_OR_RETURN(Value out,
                     DotProduct(lhs, rhs, dot, type, out_dims, context));
    ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type()));
    return out.WithShape(ShapeOf(i));
  }
  if (!plan.contracted && attrs.rhs_group.size() != 1) {
    return absl::InvalidArgumentError(
        "a free ragged dimension needs one group dimension of rhs");
  }
  DimVector prefix;
  if (sizes.shape().rank() > 1) {
    prefix = plan.prefix;
    if (plan.contracted && dot.lhs_contracting[0] != plan.ragged) {
      return absl::UnimplementedError(
          "group sizes that differ along a contracted dimension");
    }
    if (sizes.shape().rank() != static_cast<int>(prefix.size()) + 1) {
      return absl::InvalidArgumentError("group sizes of a wrong rank");
    }
  }
  const int64_t group_dim = plan.contracted ? -1 : attrs.rhs_group[0];
  const int64_t rhs_ragged =
      plan.contracted
          ? dot.rhs_contracting[PositionIn(dot.lhs_contracting, plan.ragged)]
          : -1;
  // In one group's rhs the group dimension is gone.
  if (!plan.contracted) {
    for (int64_t& d : dot.rhs_contracting) d -= d > group_dim;
    for (int64_t& d : dot.rhs_batch) d -= d > group_dim;
  }
  const int64_t groups = sizes.shape().dim(sizes.shape().rank() - 1);
  const int64_t extent = lhs.shape().dim(static_cast<int>(plan.ragged));
  Value out = Value::NewArray(Shape::Array(type, out_dims));
  DimVector prefix_dims;
  for (int64_t d : prefix) {
    prefix_dims.push_back(lhs.shape().dim(static_cast<int>(d)));
  }
  int64_t next_size = 0;
  for (Odometer o(prefix_dims); !o.done(); o.Next()) {
    Value l = lhs;
    Value r = rhs;
    DimVector at(out_dims.size(), 0);
    DimVector part = out_dims;
    for (size_t k = 0; k < prefix.size(); ++k) {
      const int64_t index = o.index()[k];
      l = PartAlong(l, prefix[k], index, index + 1);
      at[plan.out_dim[prefix[k]]] = index;
      part[plan.out_dim[prefix[k]]] = 1;
      if (k < dot.lhs_batch.size()) {
        const int64_t d = attrs.dot.rhs_batch[k];
        r = PartAlong(r, d, index, index + 1);
      }
    }
    int64_t begin = 0;
    for (int64_t g = 0; g < groups; ++g) {
      const int64_t size = std::max<int64_t>(0, sizes.Integer(next_size++));
      const int64_t end = std::min(extent, begin + size);
      const Value group_lhs = PartAlong(l, plan.ragged, begin, end);
      DimVector dims = part;
      if (plan.contracted) {
        at[0] = g;
        part[0] = 1;
        dims.erase(dims.begin());
        ASSIGN_OR_RETURN(
            Value product,
            DotProduct(group_lhs, PartAlong(r, rhs_ragged, begin, end), dot,
                       type, dims, context));
        PutPart(product.WithShape(Shape::Array(type, part)), at, &out);
      } else {
        const int64_t d = plan.out_dim[plan.ragged];
        at[d] = begin;
        dims[d] = end - begin;
        ASSIGN_OR_RETURN(const Value product,
                         DotProduct(group_lhs, WithoutDim(r, group_dim, g), dot,
                                    type, dims, context));
        PutPart(product, at, &out);
      }
      begin = end;
    }
  }
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type()));
  return out.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
