#include "hlo_backend/passes/products/group_planes.h"

#include <vector>

#include "hlo_backend/analysis/tiled_layout.h"

namespace ptxla::hlo {
namespace {

// Dimension `at` becomes two, the outer one of `groups`.
DimVector Split(DimVector dims, int64_t at, int64_t groups) {
  dims.insert(dims.begin() + at, groups);
  dims[at + 1] /= groups;
  return dims;
}

// Where others are then.
void Shift(int64_t at, DimVector* spatial,
           const std::vector<int64_t*>& features) {
  for (int64_t& s : *spatial) s += s > at;
  for (int64_t* f : features) *f += *f >= at;
  spatial->insert(spatial->begin(), at);
}

}  // namespace

bool FillPlanes(int64_t inputs, int64_t results, int64_t rows) {
  return inputs >= kLanes && results >= kLanes && rows % kTileRows == 0;
}

void MakePlanesOfGroups(Builder* b, int64_t groups, int64_t of,
                        ConvolutionParts* parts) {
  ConvDims& d = parts->attrs.dims;
  const auto split = [&](Instruction* value, int64_t at) {
    return b->Reshape(value, Split(value->shape().dims(), at, groups));
  };
  parts->x = split(parts->x, of);
  parts->w = split(parts->w, d.kernel_output_feature);
  parts->result = Split(parts->result, d.output_feature, groups);
  Shift(of, &d.input_spatial, {&d.input_batch, &d.input_feature});
  Shift(d.kernel_output_feature, &d.kernel_spatial,
        {&d.kernel_input_feature, &d.kernel_output_feature});
  Shift(d.output_feature, &d.output_spatial,
        {&d.output_batch, &d.output_feature});
  // A window as wide as the groups are many sees one of them at each of its
  // places: those of the base lie `groups` apart, those of the window one less.
  WindowDim window;
  window.size = window.base_dilation = groups;
  window.stride = groups - 1;
  auto& dims = parts->attrs.window.dims;
  dims.insert(dims.begin(), window);
}

}  // namespace ptxla::hlo
