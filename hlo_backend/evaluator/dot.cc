#include <algorithm>

#include "base/status.h"
#include "hlo_backend/evaluator/matrix_product.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// The dimensions that are neither batch nor contracting, in order.
DimVector FreeDims(int rank, const DimVector& batch,
                   const DimVector& contracting) {
  DimVector free;
  for (int d = 0; d < rank; ++d) {
    if (std::find(batch.begin(), batch.end(), d) == batch.end() &&
        std::find(contracting.begin(), contracting.end(), d) ==
            contracting.end()) {
      free.push_back(d);
    }
  }
  return free;
}

int64_t SizeOf(const Shape& shape, const DimVector& dims) {
  int64_t size = 1;
  for (int64_t d : dims) size *= shape.dim(static_cast<int>(d));
  return size;
}

// `x` in another type, with its dimensions in the order a, b, c.
absl::StatusOr<Value> Arranged(const Value& x, PrimitiveType type,
                               const DimVector& a, const DimVector& b,
                               const DimVector& c) {
  ASSIGN_OR_RETURN(Value wide, ConvertTo(x.Dense(), type));
  DimVector order = a;
  order.insert(order.end(), b.begin(), b.end());
  order.insert(order.end(), c.begin(), c.end());
  if (std::is_sorted(order.begin(), order.end())) return wide;
  const DimVector strides = RowMajorStrides(x.shape().dims());
  DimVector dims;
  DimVector from;
  for (int64_t d : order) {
    dims.push_back(x.shape().dim(static_cast<int>(d)));
    from.push_back(strides[d]);
  }
  Value out = Value::NewArray(Shape::Array(type, dims));
  CopyBox(dims, out.Mutable(), RowMajorStrides(dims), wide.data(), from,
          wide.element_bytes());
  return out;
}

}  // namespace

absl::StatusOr<Value> EvalDot(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  const DotAttrs& dot = i.attrs<DotAttrs>();
  if (!dot.sparsity.empty()) return absl::UnimplementedError("a sparse dot");
  const Value& lhs = operands[0];
  const Value& rhs = operands[1];
  const PrimitiveType type =
      ProductType(lhs.type(), rhs.type(), i.shape().type());
  const DimVector lhs_free =
      FreeDims(lhs.shape().rank(), dot.lhs_batch, dot.lhs_contracting);
  const DimVector rhs_free =
      FreeDims(rhs.shape().rank(), dot.rhs_batch, dot.rhs_contracting);
  ASSIGN_OR_RETURN(Value l, Arranged(lhs, type, dot.lhs_batch, lhs_free,
                                     dot.lhs_contracting));
  ASSIGN_OR_RETURN(Value r, Arranged(rhs, type, dot.rhs_batch,
                                     dot.rhs_contracting, rhs_free));
  const ProductSize size = {
      SizeOf(lhs.shape(), dot.lhs_batch), SizeOf(lhs.shape(), lhs_free),
      SizeOf(rhs.shape(), rhs_free), SizeOf(lhs.shape(), dot.lhs_contracting)};
  Shape wide_shape = i.shape();
  wide_shape.set_type(type);
  Value out = Value::NewArray(wide_shape);
  MatrixProductInPasses(PassesOf(dot.precision, lhs.type(), rhs.type(),
                                 context.options().tpu_mode),
                        type, size, &l, &r, out.Mutable());
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type()));
  return out.WithShape(ShapeOf(i));
}

// lhs rows fall into consecutive groups of group_sizes rows, each multiplied
// with its own rhs matrix (rhs group dimension g); or, where the ragged
// dimension is contracted, each group gives its own product.
absl::StatusOr<Value> EvalRaggedDot(OpContext&, const Instruction&,
                                    absl::Span<Value>) {
  return absl::UnimplementedError("no evaluation of ragged-dot");
}

}  // namespace ptxla::hlo
