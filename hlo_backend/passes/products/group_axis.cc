#include "hlo_backend/passes/products/group_axis.h"

#include <cstdint>
#include <utility>

#include "hlo_backend/ir/builder.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/dimension_order.h"
#include "hlo_backend/passes/products/group_planes.h"
#include "hlo_backend/passes/products/size_of.h"
#include "hlo_backend/passes/scheduled/convolution_to_dot.h"

namespace ptxla::hlo {
namespace {

// The axis of groups; -1: none.
int GroupAxis(const Instruction& conv) {
  const auto& a = conv.attrs<ConvAttrs>();
  if (a.feature_group_count != 1 || a.batch_group_count != 1 ||
      !a.sparsity.empty() || a.window.dims.size() < 2) {
    return -1;
  }
  for (size_t s = 0; s < a.window.dims.size(); ++s) {
    const int64_t groups = SizeOf(conv, a.dims.output_spatial[s]);
    if (groups > 1 && RoleOf(a.window.dims[s],
                             SizeOf(*conv.operand(0), a.dims.input_spatial[s]),
                             SizeOf(*conv.operand(1), a.dims.kernel_spatial[s]),
                             groups) == SpatialRole::kBatch) {
      return static_cast<int>(s);
    }
  }
  return -1;
}

// Dimensions of an array from whose `axis` and `feature` one is made, in the
// feature's place.
struct Joined {
  DimVector order;   // with the axis in front of the feature
  DimVector number;  // of each old dimension, joined

  Joined(int rank, int64_t axis, int64_t feature) : number(rank, 0) {
    int64_t next = 0;
    for (int64_t d = 0; d < rank; ++d) {
      if (d == axis) continue;
      if (d == feature) order.push_back(axis);
      order.push_back(d);
      number[d] = next++;
    }
    number[axis] = number[feature];
  }

  Instruction* Of(Builder* b, Instruction* x, int64_t feature) const {
    if (!IsIdentityMapping(order)) x = b->Transpose(x, order);
    DimVector dims = x->shape().dims();
    const int64_t axis = number[feature];
    dims[axis + 1] *= dims[axis];
    dims.erase(dims.begin() + axis);
    return b->Reshape(x, dims);
  }
};

void Erase(DimVector* spatial, int axis) {
  spatial->erase(spatial->begin() + axis);
}

void Renumber(const Joined& joined, int64_t* dim) {
  *dim = joined.number[*dim];
}
void Renumber(const Joined& joined, DimVector* dims) {
  for (int64_t& d : *dims) d = joined.number[d];
}

}  // namespace

Instruction* GroupsOfAxis(Instruction* convolution) {
  const int axis = GroupAxis(*convolution);
  if (axis < 0) return nullptr;
  const auto& old = convolution->attrs<ConvAttrs>();
  const int64_t groups = SizeOf(*convolution, old.dims.output_spatial[axis]);
  const int rank = convolution->shape().rank();
  ConvAttrs attrs = old;
  attrs.window.dims.erase(attrs.window.dims.begin() + axis);
  // Without the axis.
  int64_t taps = 1, results = 1;
  for (size_t s = 0; s < old.window.dims.size(); ++s) {
    if (static_cast<int>(s) == axis) continue;
    taps *= old.window.dims[s].size;
    results *= SizeOf(*convolution, old.dims.output_spatial[s]);
  }
  const bool gradient = taps > results;
  // Such groups are planes.
  const ConvDims& from = old.dims;
  const Instruction &x = *convolution->operand(0),
                    &w = *convolution->operand(1);
  const int64_t inputs = gradient ? SizeOf(x, from.input_batch)
                                  : SizeOf(w, from.kernel_input_feature);
  if (FillPlanes(inputs, SizeOf(w, from.kernel_output_feature),
                 gradient ? SizeOf(x, from.input_feature) : 8)) {
    return nullptr;
  }
  (gradient ? attrs.batch_group_count : attrs.feature_group_count) = groups;
  const int64_t of_input =
      gradient ? old.dims.input_batch : old.dims.input_feature;
  const int64_t of_kernel = old.dims.kernel_output_feature;
  const int64_t of_result = old.dims.output_feature;
  const Joined input(rank, old.dims.input_spatial[axis], of_input);
  const Joined kernel(rank, old.dims.kernel_spatial[axis], of_kernel);
  const Joined result(rank, old.dims.output_spatial[axis], of_result);
  ConvDims& d = attrs.dims;
  Erase(&d.input_spatial, axis);
  Erase(&d.kernel_spatial, axis);
  Erase(&d.output_spatial, axis);
  Renumber(input, &d.input_spatial);
  Renumber(input, &d.input_batch);
  Renumber(input, &d.input_feature);
  Renumber(kernel, &d.kernel_spatial);
  Renumber(kernel, &d.kernel_input_feature);
  Renumber(kernel, &d.kernel_output_feature);
  Renumber(result, &d.output_spatial);
  Renumber(result, &d.output_batch);
  Renumber(result, &d.output_feature);
  Builder b(convolution->parent());
  b.set_metadata(convolution->shared_metadata());
  const DimVector split = Permuted(convolution->shape().dims(), result.order);
  DimVector dims = split;
  const int64_t at = result.number[of_result];
  dims[at + 1] *= dims[at];
  dims.erase(dims.begin() + at);
  Instruction* made = convolution->parent()->Add(
      Opcode::kConvolution, Shape::Array(convolution->shape().type(), dims),
      {input.Of(&b, convolution->operand(0), of_input),
       kernel.Of(&b, convolution->operand(1), of_kernel)},
      std::move(attrs), {}, convolution->name());
  made->set_metadata(convolution->shared_metadata());
  Instruction* value = b.Reshape(made, split);
  return IsIdentityMapping(result.order)
             ? value
             : b.Transpose(value, Inverse(result.order));
}

}  // namespace ptxla::hlo
