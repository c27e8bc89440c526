#include "hlo_backend/lowering/movement/lane_reshape.h"

#include <vector>

#include "hlo_backend/analysis/lane_reshape.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {
namespace {

// Dimensions of the walk.
enum Dim { kMajor, kRows, kPlanes, kParts, kLanes };

struct Side {
  PhysicalArray array;         // with the walk's dimensions
  std::vector<int64_t> pitch;  // bytes
  std::vector<Dim> dims;
};

// `array` with dimensions `dims` of the walk, a unit of each so far apart.
Side View(PhysicalArray array, const std::vector<Dim>& dims,
          absl::Span<const int64_t> sizes, absl::Span<const int64_t> pitches) {
  Side side;
  array.dims.clear();
  array.sizes.clear();
  array.planes = 1;
  for (const Dim d : dims) {
    if ((d == kMajor || d == kPlanes) && sizes[d] == 1) continue;
    array.dims.push_back(array.rank());
    array.sizes.push_back(sizes[d]);
    side.dims.push_back(d);
    side.pitch.push_back(pitches[d]);
  }
  const int rank = array.rank();
  for (int k = 0; k + 2 < rank; ++k) array.planes *= array.sizes[k];
  array.rows = array.sizes[rank - 2];
  array.columns = array.sizes[rank - 1];
  array.tiles_across = array.columns / isa::kLanes;
  side.array = array;
  return side;
}

bool IsRowMajor(const PhysicalArray& array) {
  for (int d = 0; d < array.rank(); ++d) {
    if (array.dims[d] != d) return false;
  }
  return true;
}

}  // namespace

std::optional<Permutation> DescribeLaneReshape(const hlo::Instruction& i) {
  if (i.opcode() != hlo::Opcode::kReshape || i.shape().ElementCount() == 0) {
    return std::nullopt;
  }
  const auto r =
      hlo::FindLaneReshape(i.operand(0)->shape().dims(), i.shape().dims());
  if (!r.has_value()) return std::nullopt;
  const auto in = PhysicalArray::Of(i.operand(0)->shape());
  const auto out = PhysicalArray::Of(i.shape());
  if (!in.ok() || !out.ok() || !IsRowMajor(*in) || !IsRowMajor(*out)) {
    return std::nullopt;
  }
  const std::vector<int64_t> sizes = {r->major, r->rows, r->planes, r->parts,
                                      r->lanes};
  const PhysicalArray &a = r->cuts ? *out : *in, &j = r->cuts ? *in : *out;
  const int64_t a_plane = a.plane_stride(), j_tile = j.tile_bytes();
  const Side apart = View(a, {kMajor, kRows, kPlanes, kParts, kLanes}, sizes,
                          {r->rows * r->planes * a_plane, r->planes * a_plane,
                           a_plane, a.row_stride(), a.tile_bytes()});
  const int64_t part = r->lanes / isa::kLanes * j_tile;
  const Side joined =
      View(j, {kMajor, kPlanes, kParts, kRows, kLanes}, sizes,
           {j.plane_stride(), j.row_stride(), r->parts * part, part, j_tile});
  const Side &from = r->cuts ? joined : apart, &to = r->cuts ? apart : joined;
  Permutation p{from.array, to.array, {}, {from.pitch, to.pitch}};
  for (const Dim d : to.dims) {
    for (size_t k = 0; k < from.dims.size(); ++k) {
      if (from.dims[k] == d) p.from.push_back(static_cast<int>(k));
    }
  }
  return p;
}

}  // namespace ptxla::lowering
