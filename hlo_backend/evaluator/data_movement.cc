// Operations that only move elements.
#include <cstring>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "base/status.h"
#include "hlo_backend/evaluator/fill.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"
#include "hlo_backend/evaluator/tile_order.h"

namespace ptxla::hlo {
namespace {

// A splat stays one whatever is moved.
Value SplatLike(const Value& x, ShapeRef shape) {
  return Value::NewSplat(std::move(shape), x.data());
}

// Elements of `x` in the order of its layout instead of row-major order.
Value InLayoutOrder(const Value& x, bool to_layout) {
  const Shape& shape = x.shape();
  if (!shape.has_layout() || shape.layout().IsRowMajor()) return x;
  DimVector dims;
  DimVector logical;
  const DimVector strides = RowMajorStrides(shape.dims());
  const DimVector& order = shape.layout().minor_to_major;
  for (size_t i = order.size(); i-- > 0;) {
    dims.push_back(shape.dim(static_cast<int>(order[i])));
    logical.push_back(strides[order[i]]);
  }
  const DimVector physical = RowMajorStrides(dims);
  Value out = Value::NewArray(shape);
  CopyBox(dims, out.Mutable(), to_layout ? physical : logical, x.data(),
          to_layout ? logical : physical, x.element_bytes());
  return out;
}

}  // namespace

absl::StatusOr<Value> EvalConstant(OpContext& context, const Instruction& i,
                                   absl::Span<Value>) {
  const Literal& literal = i.literal();
  if (!literal.IsElided()) return Value::Borrow(literal);
  switch (context.options().elided) {
    case EvaluatorOptions::Elided::kError:
      break;
    case EvaluatorOptions::Elided::kZero: {
      const uint64_t zero[2] = {0, 0};
      return Value::NewSplat(ShapeOf(i), zero);
    }
    case EvaluatorOptions::Elided::kIota: {
      Value index =
          Value::NewArray(Shape::Array(PrimitiveType::kS64, i.shape().dims()));
      int64_t* at = index.MutableAs<int64_t>();
      for (int64_t k = 0; k < index.count(); ++k) at[k] = k;
      ASSIGN_OR_RETURN(Value value, ConvertTo(index, i.shape().type()));
      return value.WithShape(ShapeOf(i));
    }
  }
  return absl::UnimplementedError(
      "the text does not hold the values of this constant");
}

absl::StatusOr<Value> EvalIota(OpContext& context, const Instruction& i,
                               absl::Span<Value>) {
  const int d = static_cast<int>(i.attrs<IotaAttrs>().dimension);
  Value index =
      Value::NewArray(Shape::Array(PrimitiveType::kS64, {i.shape().dim(d)}));
  int64_t* at = index.MutableAs<int64_t>();
  for (int64_t k = 0; k < index.count(); ++k) at[k] = k;
  ASSIGN_OR_RETURN(const Value line, ConvertTo(index, i.shape().type()));
  Value out = context.NewArray(ShapeOf(i));
  DimVector from(i.shape().rank(), 0);
  from[d] = 1;
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          line.data(), from, line.element_bytes());
  return out;
}

absl::StatusOr<Value> EvalBroadcast(OpContext& context, const Instruction& i,
                                    absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.count() == 1 || x.IsSplat()) return SplatLike(x, ShapeOf(i));
  const DimVector strides = RowMajorStrides(x.shape().dims());
  DimVector from(i.shape().rank(), 0);
  for (size_t k = 0; k < i.dimensions().size(); ++k) {
    if (x.shape().dim(static_cast<int>(k)) != 1) {
      from[i.dimensions()[k]] = strides[k];
    }
  }
  Value out = context.NewArray(ShapeOf(i));
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          x.data(), from, x.element_bytes());
  return out;
}

// To another float type, too (rare_op_expander.h).
absl::StatusOr<Value> EvalReshape(OpContext& context, const Instruction& i,
                                  absl::Span<Value> operands) {
  ASSIGN_OR_RETURN(const Value x,
                   ConvertTo(operands[0], i.shape().type(), context.pool()));
  return x.WithShape(ShapeOf(i));
}

namespace {

// The elements' bits without gaps, lowest first; their storage is whole bytes.
std::vector<uint8_t> Packed(const Value& x, int width) {
  std::vector<uint8_t> bits((x.count() * width + 7) / 8);
  for (int64_t k = 0; k < x.count(); ++k) {
    for (int b = 0; b < width; ++b) {
      const int bit = x.element(k)[b / 8] >> (b % 8) & 1;
      const int64_t at = k * width + b;
      bits[at / 8] = static_cast<uint8_t>(bits[at / 8] | bit << (at % 8));
    }
  }
  return bits;
}

Value Unpacked(const std::vector<uint8_t>& bits, const Shape& shape) {
  const int width = BitWidth(shape.type());
  Value out = Value::NewArray(shape);
  uint8_t* to = out.Mutable();
  for (int64_t k = 0; k < out.count(); ++k, to += out.element_bytes()) {
    for (int b = 0; b < width; ++b) {
      const int64_t at = k * width + b;
      const int bit = bits[at / 8] >> (at % 8) & 1;
      to[b / 8] = static_cast<uint8_t>(to[b / 8] | bit << (b % 8));
    }
    // A signed one is stored with its sign in the rest of the byte.
    if (width < 8 && IsSigned(shape.type()) && (*to >> (width - 1) & 1) != 0) {
      *to = static_cast<uint8_t>(*to | 0xff << width);
    }
  }
  return out;
}

}  // namespace

absl::StatusOr<Value> EvalBitcast(OpContext&, const Instruction& i,
                                  absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.IsTuple()) return x.WithShape(ShapeOf(i));
  const int width = BitWidth(x.type());
  if (width != BitWidth(i.shape().type())) {
    if (i.shape().ElementCount() * BitWidth(i.shape().type()) !=
        x.count() * width) {
      return absl::UnimplementedError("bitcast to another number of bits");
    }
    return InLayoutOrder(
        Unpacked(Packed(InLayoutOrder(x.Dense(), true), width), i.shape()),
        false);
  }
  if (x.IsSplat()) return x.WithShape(ShapeOf(i));
  if (auto tiles = AtSameBytes(x, i.operand(0)->shape(), ShapeOf(i))) {
    return *std::move(tiles);
  }
  return InLayoutOrder(InLayoutOrder(x, true).WithShape(ShapeOf(i)), false);
}

absl::StatusOr<Value> EvalBitcastConvert(OpContext&, const Instruction& i,
                                         absl::Span<Value> operands) {
  const Value& x = operands[0];
  const int from_bits = BitWidth(x.type());
  const int to_bits = BitWidth(i.shape().type());
  if (from_bits % 8 == 0 && from_bits == to_bits) {
    return x.WithShape(ShapeOf(i));
  }
  if (from_bits % 8 != 0 || to_bits % 8 != 0) {
    return Unpacked(Packed(x, from_bits), i.shape());
  }
  const Value dense = x.Dense();
  Value out = Value::NewArray(ShapeOf(i));
  CHECK_EQ(out.count() * out.element_bytes(),
           dense.count() * dense.element_bytes());
  std::memcpy(out.Mutable(), dense.data(), out.count() * out.element_bytes());
  return out;
}

absl::StatusOr<Value> EvalTranspose(OpContext& context, const Instruction& i,
                                    absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.IsSplat()) return SplatLike(x, ShapeOf(i));
  const DimVector strides = RowMajorStrides(x.shape().dims());
  DimVector from;
  for (int64_t d : i.dimensions()) from.push_back(strides[d]);
  Value out = context.NewArray(ShapeOf(i));
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          x.data(), from, x.element_bytes());
  return out;
}

absl::StatusOr<Value> EvalSlice(OpContext& context, const Instruction& i,
                                absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.IsSplat()) return SplatLike(x, ShapeOf(i));
  const SliceAttrs& slice = i.attrs<SliceAttrs>();
  DimVector from = RowMajorStrides(x.shape().dims());
  int64_t start = 0;
  for (size_t d = 0; d < from.size(); ++d) {
    start += slice.starts[d] * from[d];
    if (d < slice.strides.size()) from[d] *= slice.strides[d];
  }
  Value out = context.NewArray(ShapeOf(i));
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          x.data() + start * x.element_bytes(), from, x.element_bytes());
  return out;
}

absl::StatusOr<Value> EvalReverse(OpContext& context, const Instruction& i,
                                  absl::Span<Value> operands) {
  const Value& x = operands[0];
  if (x.IsSplat() || x.count() == 0) return x.WithShape(ShapeOf(i));
  DimVector from = RowMajorStrides(x.shape().dims());
  int64_t start = 0;
  for (int64_t d : i.dimensions()) {
    start += from[d] * (x.shape().dim(static_cast<int>(d)) - 1);
    from[d] = -from[d];
  }
  Value out = context.NewArray(ShapeOf(i));
  CopyBox(i.shape().dims(), out.Mutable(), RowMajorStrides(i.shape().dims()),
          x.data() + start * x.element_bytes(), from, x.element_bytes());
  return out;
}

Value ConcatenateAlong(OpContext& context, const Instruction& i, int64_t d,
                       absl::Span<Value> operands) {
  Value out = context.NewArray(ShapeOf(i));
  uint8_t* to = out.Mutable();
  const DimVector strides = RowMajorStrides(i.shape().dims());
  int64_t at = 0;
  for (const Value& x : operands) {
    const DimVector from = x.IsSplat() ? DimVector(strides.size(), 0)
                                       : RowMajorStrides(x.shape().dims());
    CopyBox(x.shape().dims(), to + at * strides[d] * x.element_bytes(), strides,
            x.data(), from, x.element_bytes());
    at += x.shape().dim(static_cast<int>(d));
  }
  return out;
}

absl::StatusOr<Value> EvalConcatenate(OpContext& context, const Instruction& i,
                                      absl::Span<Value> operands) {
  return ConcatenateAlong(context, i, i.dimensions()[0], operands);
}

absl::StatusOr<Value> EvalPad(OpContext& context, const Instruction& i,
                              absl::Span<Value> operands) {
  const Value& x = operands[0];
  const auto& padding = i.attrs<PadAttrs>().dims;
  Value out = context.NewArray(ShapeOf(i));
  uint8_t* to = out.Mutable();
  Fill(to, operands[1].data(), x.element_bytes(), out.count());
  // The box of elements that survive negative padding.
  const DimVector out_strides = RowMajorStrides(i.shape().dims());
  const DimVector in_strides = RowMajorStrides(x.shape().dims());
  DimVector size;
  DimVector to_strides;
  int64_t at_out = 0;
  int64_t at_in = 0;
  for (int d = 0; d < x.shape().rank(); ++d) {
    const int64_t step = padding[d].interior + 1;
    int64_t first = 0;  // the first element that is inside
    if (padding[d].low < 0) first = (-padding[d].low + step - 1) / step;
    const int64_t last_place = i.shape().dim(d) - 1 - padding[d].low;
    const int64_t end =
        last_place < 0 ? 0 : std::min(x.shape().dim(d), last_place / step + 1);
    size.push_back(end - first);
    to_strides.push_back(out_strides[d] * step);
    at_out += (padding[d].low + first * step) * out_strides[d];
    at_in += first * in_strides[d];
    if (end <= first) return out;
  }
  const Value dense = x.Dense();
  CopyBox(size, to + at_out * x.element_bytes(), to_strides,
          dense.data() + at_in * x.element_bytes(), in_strides,
          x.element_bytes());
  return out;
}

}  // namespace ptxla::hlo
