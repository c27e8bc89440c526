#include "base/status.h"
#include "hlo_backend/ir/dimensions.h"
#include "hlo_backend/ir/infer.h"

namespace ptxla::hlo::infer {
namespace {

absl::Status CheckPairs(absl::string_view what, const Shape& lhs,
                        const Shape& rhs, const DimVector& l,
                        const DimVector& r) {
  if (l.size() != r.size()) {
    return Fail("lhs has ", l.size(), " ", what, " dimensions, rhs ", r.size());
  }
  RETURN_IF_ERROR(CheckDims(what, l, lhs.rank()));
  RETURN_IF_ERROR(CheckDims(what, r, rhs.rank()));
  for (size_t i = 0; i < l.size(); ++i) {
    if (!SizesAgree(lhs.dim(static_cast<int>(l[i])),
                    rhs.dim(static_cast<int>(r[i])))) {
      return Fail(what, " dimension ", l[i], " of ", Text(lhs),
                  " does not fit dimension ", r[i], " of ", Text(rhs));
    }
  }
  return absl::OkStatus();
}

void AddFree(const Shape& x, const DimVector& batch,
             const DimVector& contracting, Shape* out) {
  for (int i = 0; i < x.rank(); ++i) {
    if (Contains(batch, i) || Contains(contracting, i)) continue;
    out->add_dim(x.dim(i));
    if (x.is_dynamic_dim(i)) out->set_dynamic_dim(out->rank() - 1, true);
  }
}

PrimitiveType ProductType(const Args& a) {
  const PrimitiveType l = a.operand(0).type(), r = a.operand(1).type();
  return PreferredType(a, BitWidth(r) > BitWidth(l) ? r : l);
}

Result Dot(const Args& a, const DotAttrs& d) {
  const Shape &lhs = a.operand(0), &rhs = a.operand(1);
  RETURN_IF_ERROR(CheckPairs("contracting", lhs, rhs, d.lhs_contracting,
                             d.rhs_contracting));
  RETURN_IF_ERROR(CheckPairs("batch", lhs, rhs, d.lhs_batch, d.rhs_batch));
  Shape shape = Shape::Array(ProductType(a), {});
  for (int64_t b : d.lhs_batch) shape.add_dim(lhs.dim(static_cast<int>(b)));
  AddFree(lhs, d.lhs_batch, d.lhs_contracting, &shape);
  AddFree(rhs, d.rhs_batch, d.rhs_contracting, &shape);
  return shape;
}

Result RaggedDot(const Args& a, const RaggedDotAttrs& r) {
  const Shape &lhs = a.operand(0), &rhs = a.operand(1);
  const DotAttrs& d = r.dot;
  if (r.lhs_ragged.size() != 1) return Fail("one ragged dimension is needed");
  RETURN_IF_ERROR(CheckDims("lhs_ragged_dims=", r.lhs_ragged, lhs.rank()));
  RETURN_IF_ERROR(CheckDims("rhs_group_dims=", r.rhs_group, rhs.rank()));
  RETURN_IF_ERROR(CheckPairs("contracting", lhs, rhs, d.lhs_contracting,
                             d.rhs_contracting));
  RETURN_IF_ERROR(CheckPairs("batch", lhs, rhs, d.lhs_batch, d.rhs_batch));
  Shape shape = Shape::Array(ProductType(a), {});
  // A ragged contracting dimension gives one result per group.
  if (Contains(d.lhs_contracting, r.lhs_ragged[0])) {
    const Shape& sizes = a.operand(2);
    if (sizes.rank() > 0) shape.add_dim(sizes.dim(sizes.rank() - 1));
  }
  for (int64_t b : d.lhs_batch) shape.add_dim(lhs.dim(static_cast<int>(b)));
  AddFree(lhs, d.lhs_batch, d.lhs_contracting, &shape);
  DimVector gone = d.rhs_contracting;
  gone.insert(gone.end(), r.rhs_group.begin(), r.rhs_group.end());
  AddFree(rhs, d.rhs_batch, gone, &shape);
  return shape;
}

}  // namespace

Result DotLike(const Args& a) {
  RETURN_IF_ERROR(CheckArray(a.operand(0), "lhs"));
  RETURN_IF_ERROR(CheckArray(a.operand(1), "rhs"));
  if (a.opcode == Opcode::kRaggedDot) {
    return RaggedDot(a, *a.attrs<RaggedDotAttrs>());
  }
  return Dot(a, *a.attrs<DotAttrs>());
}

Result Convolution(const Args& a) {
  if (a.operand_count() < 2) return Fail("convolution takes 2 operands");
  const Shape &x = a.operand(0), &k = a.operand(1);
  RETURN_IF_ERROR(CheckArray(x, "the input"));
  RETURN_IF_ERROR(CheckArray(k, "the kernel"));
  const ConvAttrs& c = *a.attrs<ConvAttrs>();
  const ConvDims& d = c.dims;
  if (!d.AreComplete()) {
    return Fail("its dimensions are not numbered once each");
  }
  const int spatial = static_cast<int>(d.input_spatial.size());
  if (x.rank() != spatial + 2 || k.rank() != spatial + 2) {
    return Fail("dim_labels=", d.ToString(), " do not fit ", Text(x), " and ",
                Text(k));
  }
  if (static_cast<int>(c.window.dims.size()) != spatial) {
    return Fail("the window has ", c.window.dims.size(), " dimensions, not ",
                spatial);
  }
  RETURN_IF_ERROR(CheckSteps(c.window));
  auto dim = [](const Shape& s, int64_t i) {
    return s.dim(static_cast<int>(i));
  };
  const int64_t in_features = dim(x, d.input_feature);
  const int64_t kernel_in = dim(k, d.kernel_input_feature);
  const int64_t out_features = dim(k, d.kernel_output_feature);
  const int64_t batch = dim(x, d.input_batch);
  if (c.feature_group_count < 1 || c.batch_group_count < 1) {
    return Fail("group counts are at least 1");
  }
  if (!SizesAgree(kernel_in * c.feature_group_count, in_features)) {
    return Fail("the kernel takes ", kernel_in, " features x ",
                c.feature_group_count, " groups, the input ", Text(x), " has ",
                in_features);
  }
  if (out_features % c.feature_group_count != 0 ||
      out_features % c.batch_group_count != 0 ||
      batch % c.batch_group_count != 0) {
    return Fail("the groups do not divide ", Text(x), " and ", Text(k));
  }
  DimVector dims(spatial + 2, 0);
  dims[d.output_batch] = batch / c.batch_group_count;
  dims[d.output_feature] = out_features;
  for (int i = 0; i < spatial; ++i) {
    if (!SizesAgree(c.window.dims[i].size, dim(k, d.kernel_spatial[i]))) {
      return Fail("window size ", c.window.dims[i].size,
                  " is not the kernel's ", dim(k, d.kernel_spatial[i]));
    }
    const int64_t base = dim(x, d.input_spatial[i]);
    dims[d.output_spatial[i]] =
        base == Shape::kUnbounded ? base : c.window.dims[i].OutputSize(base);
  }
  return Shape::Array(ProductType(a), dims);
}

}  // namespace ptxla::hlo::infer
