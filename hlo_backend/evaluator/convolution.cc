// Convolution of any rank as matrix products: for each feature group, the
// input elements that each output position sees are laid out as one row.
#include <algorithm>

#include "base/status.h"
#include "hlo_backend/evaluator/matrix_product.h"
#include "hlo_backend/evaluator/operations.h"
#include "hlo_backend/evaluator/strided.h"

namespace ptxla::hlo {
namespace {

// An array with dimensions permuted to `order`, in another type.
absl::StatusOr<Value> Permuted(const Value& x, PrimitiveType type,
                               const DimVector& order) {
  ASSIGN_OR_RETURN(const Value wide, ConvertTo(x.Dense(), type));
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

DimVector Join(int64_t a, const DimVector& middle, int64_t b) {
  DimVector all = {a};
  all.insert(all.end(), middle.begin(), middle.end());
  all.push_back(b);
  return all;
}

// For every output position and kernel place of one spatial dimension: the
// input index, or -1 for padding and holes.
struct SpatialMap {
  int64_t out, kernel;
  std::vector<int64_t> index;
  SpatialMap(const WindowDim& w, int64_t in_size, int64_t out_size)
      : out(out_size), kernel(w.size), index(out_size * w.size, -1) {
    for (int64_t o = 0; o < out; ++o) {
      for (int64_t k = 0; k < kernel; ++k) {
        const int64_t place = w.reversal ? kernel - 1 - k : k;
        const int64_t at =
            o * w.stride + place * w.window_dilation - w.padding_low;
        if (at < 0 || at % w.base_dilation != 0) continue;
        const int64_t i = at / w.base_dilation;
        if (i < in_size) index[o * kernel + k] = i;
      }
    }
  }
};

}  // namespace

absl::StatusOr<Value> EvalConvolution(OpContext& context, const Instruction& i,
                                      absl::Span<Value> operands) {
  const ConvAttrs& c = i.attrs<ConvAttrs>();
  const ConvDims& d = c.dims;
  if (!c.sparsity.empty()) {
    return absl::UnimplementedError("a sparse convolution");
  }
  const PrimitiveType type =
      ProductType(operands[0].type(), operands[1].type(), i.shape().type());
  // [batch, spatial.., in features], [spatial.., in, out], [batch, .., out].
  ASSIGN_OR_RETURN(
      const Value input,
      Permuted(operands[0], type,
               Join(d.input_batch, d.input_spatial, d.input_feature)));
  DimVector kernel_order = d.kernel_spatial;
  kernel_order.push_back(d.kernel_input_feature);
  kernel_order.push_back(d.kernel_output_feature);
  ASSIGN_OR_RETURN(const Value kernel,
                   Permuted(operands[1], type, kernel_order));
  const int spatial = static_cast<int>(d.input_spatial.size());
  const DimVector& in_dims = input.shape().dims();
  const DimVector& kernel_dims = kernel.shape().dims();
  const int64_t in_features = in_dims.back();
  const int64_t group_in = kernel_dims[spatial];
  const int64_t out_features = kernel_dims.back();
  const int64_t out_batch = i.shape().dim(static_cast<int>(d.output_batch));
  const int64_t groups = c.feature_group_count * c.batch_group_count;
  if (c.feature_group_count > 1 && c.batch_group_count > 1) {
    return absl::UnimplementedError("both feature and batch groups");
  }
  const int64_t group_out = out_features / groups;

  std::vector<SpatialMap> maps;
  DimVector out_spatial;
  DimVector kernel_spatial;
  for (int s = 0; s < spatial; ++s) {
    out_spatial.push_back(i.shape().dim(static_cast<int>(d.output_spatial[s])));
    kernel_spatial.push_back(kernel_dims[s]);
    maps.emplace_back(c.window.dims[s], in_dims[s + 1], out_spatial[s]);
  }
  DimVector spatial_strides(spatial, in_features);  // in one image
  for (int s = spatial - 1; s-- > 0;) {
    spatial_strides[s] = spatial_strides[s + 1] * in_dims[s + 2];
  }
  const int64_t image = Product(in_dims) / std::max<int64_t>(1, in_dims[0]);
  const int64_t places = Product(kernel_spatial);
  const int64_t positions = Product(out_spatial);
  const int64_t k = places * group_in;
  const int bytes = StorageBytes(type);
  const ProductPasses passes =
      PassesOf(c.precision, operands[0].type(), operands[1].type(),
               context.options().tpu_mode);

  DimVector out_dims = {out_batch};
  out_dims.insert(out_dims.end(), out_spatial.begin(), out_spatial.end());
  out_dims.push_back(out_features);
  Value out = Value::NewArray(Shape::Array(type, out_dims));
  uint8_t* to = out.Mutable();
  if (out.count() == 0) return Value::NewArray(ShapeOf(i));
  for (int64_t g = 0; g < groups; ++g) {
    // This group's kernel as a [places * group_in, group_out] matrix.
    Value weights = Value::NewArray(Shape::Array(type, {k, group_out}));
    CopyBox({k, group_out}, weights.Mutable(), {group_out, 1},
            kernel.data() + g * group_out * bytes, {out_features, 1}, bytes);
    const bool by_batch = c.batch_group_count > 1;
    const int64_t first_feature = by_batch ? 0 : g * group_in;
    for (int64_t b = 0; b < out_batch; ++b) {
      const int64_t in_batch = by_batch ? g * out_batch + b : b;
      Value rows = Value::NewArray(Shape::Array(type, {positions, k}));
      uint8_t* row = rows.Mutable();
      const uint8_t* from =
          input.data() + (in_batch * image + first_feature) * bytes;
      for (Odometer o(out_spatial); !o.done(); o.Next()) {
        for (Odometer p(kernel_spatial); !p.done(); p.Next()) {
          int64_t at = 0;
          bool inside = true;
          for (int s = 0; s < spatial && inside; ++s) {
            const int64_t index =
                maps[s].index[o.index()[s] * maps[s].kernel + p.index()[s]];
            inside = index >= 0;
            at += index * spatial_strides[s];
          }
          if (inside) {
            std::memcpy(row, from + at * bytes, group_in * bytes);
          }
          row += group_in * bytes;
        }
      }
      Value product =
          Value::NewArray(Shape::Array(type, {positions, group_out}));
      Value w = weights;
      MatrixProductInPasses(passes, type, {1, positions, group_out, k}, &rows,
                            &w, product.Mutable());
      CopyBox({positions, group_out},
              to + (b * positions * out_features + g * group_out) * bytes,
              {out_features, 1}, product.data(), {group_out, 1}, bytes);
    }
  }
  // To the order of the result's dimensions.
  DimVector place(i.shape().rank());
  place[d.output_batch] = 0;
  for (int s = 0; s < spatial; ++s) place[d.output_spatial[s]] = s + 1;
  place[d.output_feature] = spatial + 1;
  ASSIGN_OR_RETURN(Value result, Permuted(out, type, place));
  ASSIGN_OR_RETURN(result, ConvertTo(result, i.shape().type()));
  return result.WithShape(ShapeOf(i));
}

}  // namespace ptxla::hlo
