#include "hlo_backend/passes/layout/reshape_of_rows.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/passes/dimension_utils.h"
#include "hlo_backend/passes/layout/reshape_groups.h"

namespace ptxla::hlo {
namespace {

// Lanes are cut if so much less is moved: the parts are turned later. ASSUMED.
constexpr int64_t kWorthCutting = 2;

// In tiles of 8 x 128.
int64_t PaddedElements(const DimVector& dims) {
  int64_t elements = 1;
  const size_t rank = dims.size();
  for (size_t d = 0; d < rank; ++d) {
    const int64_t unit = d + 1 == rank ? kLanes : d + 2 == rank ? kTileRows : 1;
    elements *= RoundUpTo<int64_t>(dims[d], unit);
  }
  return elements;
}

// Changes more than dimensions of size 1.
bool Regroups(const ReshapeGroup& g, absl::Span<const int64_t> in,
              absl::Span<const int64_t> out) {
  return DropUnitDims(in.subspan(g.from, g.from_end - g.from)) !=
         DropUnitDims(out.subspan(g.to, g.to_end - g.to));
}

}  // namespace

std::optional<ReshapedRows> ReshapeOfRows(const Instruction& reshape) {
  const Instruction& x = *reshape.operand(0);
  if (reshape.opcode() != Opcode::kReshape ||
      x.opcode() != Opcode::kTranspose || reshape.shape().ElementCount() == 0) {
    return {};
  }
  return ReshapeOfRows(x.dimensions(), x.shape().dims(),
                       reshape.shape().dims());
}

std::optional<ReshapedRows> ReshapeOfRows(absl::Span<const int64_t> order,
                                          absl::Span<const int64_t> in,
                                          absl::Span<const int64_t> out) {
  const std::vector<ReshapeGroup> groups = ReshapeGroups(in, out);
  const auto lanes = static_cast<int64_t>(in.size()) - 1;
  struct Place {
    ReshapeGroup group;
    int64_t first = 0;  // of its dimensions, in front of the transpose
    bool lanes = false;
  };
  std::vector<Place> places;
  for (const ReshapeGroup& g : groups) {
    Place p = {g, lanes, false};
    for (size_t d = g.from; d < g.from_end; ++d) {
      p.first = std::min(p.first, order[d]);
      p.lanes |= order[d] == lanes;
    }
    places.push_back(p);
  }
  if (places.back().lanes) return {};
  const bool regroups = Regroups(groups.back(), in, out);
  std::stable_sort(places.begin(), places.end(),
                   [](const Place& a, const Place& b) {
                     return a.lanes != b.lanes ? b.lanes : a.first < b.first;
                   });
  const ReshapeGroup& kept = places.back().group;
  if (kept.from_end - kept.from != 1) return {};
  if (regroups == kept.Changes(in, out)) return {};
  ReshapedRows r;
  r.order.resize(out.size());
  for (const Place& p : places) {
    for (size_t d = p.group.from; d < p.group.from_end; ++d) {
      r.inner.push_back(order[d]);
    }
    for (size_t d = p.group.to; d < p.group.to_end; ++d) {
      r.order[d] = static_cast<int64_t>(r.dims.size());
      r.dims.push_back(out[d]);
    }
  }
  // Lanes are cut: into parts that fill tiles better than what would come
  // there.
  if (!regroups && PaddedElements(r.dims) * kWorthCutting >
                       PaddedElements(DimVector(in.begin(), in.end()))) {
    return {};
  }
  return r;
}

}  // namespace ptxla::hlo
