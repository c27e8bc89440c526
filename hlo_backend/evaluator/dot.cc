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
                               const DimVector& c, BufferPool* pool) {
  ASSIGN_OR_RETURN(Value wide, ConvertTo(x.Dense(pool), type, pool));
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
  Value out = Value::NewArray(Hold(Shape::Array(type, dims)), pool);
  CopyBox(dims, out.Mutable(), RowMajorStrides(dims), wide.data(), from,
          wide.element_bytes());
  return out;
}

// The product with the given dimension numbers, in the type it is computed in.
absl::StatusOr<Value> Product(const Value& lhs, const Value& rhs,
                              const DotAttrs& dot, PrimitiveType type,
                              const Shape& result, OpContext& context) {
  BufferPool* pool = context.pool();
  const DimVector lhs_free =
      FreeDims(lhs.shape().rank(), dot.lhs_batch, dot.lhs_contracting);
  const DimVector rhs_free =
      FreeDims(rhs.shape().rank(), dot.rhs_batch, dot.rhs_contracting);
  ASSIGN_OR_RETURN(Value l, Arranged(lhs, type, dot.lhs_batch, lhs_free,
                                     dot.lhs_contracting, pool));
  ASSIGN_OR_RETURN(Value r, Arranged(rhs, type, dot.rhs_batch,
                                     dot.rhs_contracting, rhs_free, pool));
  const ProductSize size = {
      SizeOf(lhs.shape(), dot.lhs_batch), SizeOf(lhs.shape(), lhs_free),
      SizeOf(rhs.shape(), rhs_free), SizeOf(lhs.shape(), dot.lhs_contracting)};
  Shape wide_shape = result;
  wide_shape.set_type(type);
  Value out = context.NewArray(Hold(wide_shape));
  MatrixProductInPasses(PassesOf(dot.precision, lhs.type(), rhs.type(),
                                 context.options().tpu_mode),
                        type, size, &l, &r, out.Mutable());
  return out;
}

// The elements of `x` whose index along dimension d is in [begin, end).
Value Part(const Value& x, int64_t d, int64_t begin, int64_t end) {
  Shape shape = x.shape();
  shape.set_dim(static_cast<int>(d), end - begin);
  const DimVector strides = RowMajorStrides(x.shape().dims());
  Value out = Value::NewArray(shape);
  CopyBox(shape.dims(), out.Mutable(), RowMajorStrides(shape.dims()),
          x.data() + begin * strides[d] * x.element_bytes(), strides,
          x.element_bytes());
  return out;
}

}  // namespace

absl::StatusOr<Value> EvalDot(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  const DotAttrs& dot = i.attrs<DotAttrs>();
  if (!dot.sparsity.empty()) return absl::UnimplementedError("a sparse dot");
  const PrimitiveType type =
      ProductType(operands[0].type(), operands[1].type(), i.shape().type());
  ASSIGN_OR_RETURN(Value out, Product(operands[0], operands[1], dot, type,
                                      i.shape(), context));
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type(), context.pool()));
  return out.WithShape(ShapeOf(i));
}

// The ragged dimension of lhs falls into consecutive groups of group_sizes
// elements. If it is free, each group's rows are multiplied with the group's
// own part of rhs; rows beyond all groups give 0. If it is contracted, each
// group gives its own product, in a new major dimension of the result.
absl::StatusOr<Value> EvalRaggedDot(OpContext& context, const Instruction& i,
                                    absl::Span<Value> operands) {
  const RaggedDotAttrs& ragged = i.attrs<RaggedDotAttrs>();
  DotAttrs dot = ragged.dot;
  const Value lhs = operands[0].Dense();
  const Value rhs = operands[1].Dense();
  const Value& sizes = operands[2];
  if (ragged.lhs_ragged.size() != 1 || sizes.shape().rank() != 1 ||
      !dot.lhs_batch.empty()) {
    return absl::UnimplementedError("ragged-dot with batch dimensions");
  }
  const int64_t d = ragged.lhs_ragged[0];
  const int64_t extent = lhs.shape().dim(static_cast<int>(d));
  const bool contracted = dot.lhs_contracting[0] == d;
  if (contracted ? dot.lhs_contracting.size() != 1
                 : ragged.rhs_group.size() != 1) {
    return absl::UnimplementedError("ragged-dot of this form");
  }
  const PrimitiveType type =
      ProductType(lhs.type(), rhs.type(), i.shape().type());
  Shape wide = i.shape();
  wide.set_type(type);
  Value out = Value::NewArray(wide);
  uint8_t* to = out.Mutable();
  const DimVector strides = RowMajorStrides(wide.dims());
  const int64_t group_dim = contracted ? -1 : ragged.rhs_group[0];
  // In one group's rhs the group dimension is gone.
  for (int64_t& c : dot.rhs_contracting) c -= !contracted && c > group_dim;
  // Free dimensions of lhs come first in the result.
  int64_t out_dim = 0;
  for (int64_t k = 0; k < d; ++k) {
    out_dim += std::find(dot.lhs_contracting.begin(), dot.lhs_contracting.end(),
                         k) == dot.lhs_contracting.end();
  }
  int64_t begin = 0;
  for (int64_t g = 0; g < sizes.count(); ++g) {
    const int64_t end = std::min(extent, begin + sizes.Integer(g));
    Value r = contracted ? Part(rhs, dot.rhs_contracting[0], begin, end)
                         : Part(rhs, group_dim, g, g + 1);
    Shape part = wide;
    int64_t at = 0;
    if (contracted) {
      part = Shape::Array(type, absl::MakeConstSpan(wide.dims()).subspan(1));
      at = g * strides[0];
    } else {
      DimVector dims = r.shape().dims();
      dims.erase(dims.begin() + group_dim);
      r = r.WithShape(Shape::Array(r.type(), dims));
      part.set_dim(static_cast<int>(out_dim), end - begin);
      at = begin * strides[out_dim];
    }
    ASSIGN_OR_RETURN(const Value product, Product(Part(lhs, d, begin, end), r,
                                                  dot, type, part, context));
    const DimVector to_strides(
        contracted ? strides.begin() + 1 : strides.begin(), strides.end());
    CopyBox(part.dims(), to + at * out.element_bytes(), to_strides,
            product.data(), RowMajorStrides(part.dims()), out.element_bytes());
    begin = end;
  }
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type()));
  return out.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
