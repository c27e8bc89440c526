#include <algorithm>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/matrix_product.h"
#include "hlo_backend/evaluator/product.h"
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

}  // namespace

absl::StatusOr<Value> DotProduct(const Value& lhs, const Value& rhs,
                                 const DotAttrs& dot, PrimitiveType type,
                                 const DimVector& dims, OpContext& context) {
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
  Value out = context.NewArray(Hold(Shape::Array(type, dims)));
  MatrixProductInPasses(PassesOf(dot.precision, lhs.type(), rhs.type(),
                                 context.options().tpu_mode),
                        type, size, &l, &r, out.Mutable());
  return out;
}

absl::StatusOr<Value> EvalDot(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  const DotAttrs& dot = i.attrs<DotAttrs>();
  if (!dot.sparsity.empty()) return absl::UnimplementedError("a sparse dot");
  const PrimitiveType type =
      ProductType(operands[0].type(), operands[1].type(), i.shape().type());
  ASSIGN_OR_RETURN(Value out, DotProduct(operands[0], operands[1], dot, type,
                                         i.shape().dims(), context));
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type(), context.pool()));
  return out.WithShape(ShapeOf(i));
}

namespace {

// x * scale, where an element of `scale` is for a block of elements of x: the
// block's size along each dimension is that of x over that of scale. A scale
// of rank 0 is for all. The product is exact where both are 8-bit floats.
absl::StatusOr<Value> Scaled(const Value& x, const Value& scale,
                             PrimitiveType type) {
  const Shape& xs = x.shape();
  const Shape& ss = scale.shape();
  const int rank = xs.rank();
  if (ss.rank() != 0 && ss.rank() != rank) {
    return absl::InvalidArgumentError(absl::StrCat(
        "a scale ", ss.ToString(), " for an operand ", xs.ToString()));
  }
  // Each dimension as (blocks, size of a block); the scale is broadcast over
  // the second.
  DimVector dims;
  DimVector strides;
  const DimVector scale_strides = RowMajorStrides(ss.dims());
  for (int d = 0; d < rank; ++d) {
    const int64_t blocks = ss.rank() == 0 ? 1 : ss.dim(d);
    if (blocks == 0 ? xs.dim(d) != 0 : xs.dim(d) % blocks != 0) {
      return absl::InvalidArgumentError(absl::StrCat(
          "a scale ", ss.ToString(), " for an operand ", xs.ToString()));
    }
    dims.push_back(blocks);
    dims.push_back(blocks == 0 ? 0 : xs.dim(d) / blocks);
    strides.push_back(ss.rank() == 0 ? 0 : scale_strides[d]);
    strides.push_back(0);
  }
  ASSIGN_OR_RETURN(const Value wide, ConvertTo(scale.Dense(), type));
  Value factor = Value::NewArray(Shape::Array(type, xs.dims()));
  CopyBox(dims, factor.Mutable(), RowMajorStrides(dims), wide.data(), strides,
          wide.element_bytes());
  ASSIGN_OR_RETURN(Value product, ConvertTo(x.Dense(), type));
  ASSIGN_OR_RETURN(const ElementwiseOp multiply,
                   ElementwiseOp::CreateBinary(Opcode::kMultiply, type));
  void* to = product.Mutable();
  multiply.Run({to, factor.data(), nullptr}, {false, false, true}, to,
               product.count());
  return product;
}

}  // namespace

// dot(lhs * lhs_scale, rhs * rhs_scale).
absl::StatusOr<Value> EvalScaledDot(OpContext& context, const Instruction& i,
                                    absl::Span<Value> operands) {
  const PrimitiveType type =
      ProductType(operands[0].type(), operands[1].type(), i.shape().type());
  if (!IsFloat(type)) {
    return absl::UnimplementedError("scaled-dot of other types than floats");
  }
  ASSIGN_OR_RETURN(const Value lhs, Scaled(operands[0], operands[2], type));
  ASSIGN_OR_RETURN(const Value rhs, Scaled(operands[1], operands[3], type));
  ASSIGN_OR_RETURN(Value out, DotProduct(lhs, rhs, i.attrs<DotAttrs>(), type,
                                         i.shape().dims(), context));
  ASSIGN_OR_RETURN(out, ConvertTo(out, i.shape().type(), context.pool()));
  return out.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
