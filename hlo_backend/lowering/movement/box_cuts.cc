#include "hlo_backend/lowering/movement/box_cuts.h"

#include <algorithm>
#include <vector>

#include "base/units.h"
#include "isa/instruction.h"

namespace ptxla::lowering {
namespace {

// Bytes of a block of the result, tried from these on; of smaller ones a tile
// of rows that is fetched twice is too large a part. ASSUMED.
constexpr int64_t kMostBytes = int64_t{1} << 20;
// More where a result in VMEM has no equal blocks of about that size. ASSUMED.
constexpr int64_t kUnevenBytes = int64_t{1} << 22;

}  // namespace

BoxCuts::BoxCuts(const BoxMap& map, const BoxPlanes& planes, bool resident,
                 int singles)
    : map_(&map), planes_(&planes), resident_(resident), singles_(singles) {
  for (const PlaneAxis& a : planes.axes) {
    cuts_.push_back({a.size, a.dilation()});
  }
  int64_t rows = std::max<int64_t>(map.out.tile_rows, 8 * map.out.packing);
  for (const BoxSource& s : map.sources) {
    rows = std::max(rows, s.array.tile_rows);
  }
  const bool linear = map.out.linear != 0;
  cuts_.push_back({linear ? map.out.linear : map.out.rows, rows * row_unit()});
  cuts_.push_back({linear ? 1 : map.out.columns, isa::kLanes});
}

int64_t BoxCuts::row_unit() const {
  return map_->out.linear != 0 ? isa::kLanes : 1;
}

int64_t BoxCuts::BlockBytes() const {
  int64_t bytes = CeilOfRatio<int64_t>(cuts_[lanes()].block, isa::kLanes) *
                  (cuts_[rows()].block / row_unit() / map_->out.packing) *
                  isa::kRowBytes;
  for (size_t p = 0; p < planes_->axes.size(); ++p) bytes *= cuts_[p].block;
  return bytes;
}

// Whether blocks of so many units may cut the axis.
bool BoxCuts::MayCut(size_t c, int64_t units, int64_t grid) const {
  if (grid == 1) return true;
  const int64_t block = CeilOfRatio(units, grid) * cuts_[c].unit;
  if (IsReversed(c)) return cuts_[c].size % block == 0;
  if (!resident_ || c == ragged_) return true;
  // A result in VMEM has no window that would cut off what is too much.
  if (c == rows()) {
    const int64_t tile = map_->out.tile_rows * row_unit();
    return map_->out.tiles_down % (block / tile) == 0;
  }
  if (c == lanes()) return map_->out.tiles_across % (block / isa::kLanes) == 0;
  return cuts_[c].size % block == 0;
}

// Where a result in VMEM has no equal blocks of half that size: larger ones,
// or a last one along one axis that is shorter. 94 tiles are 47 blocks of 2,
// or 2 of 47; 3137 are as many of one, or 49 of 64 and one of a tile.
int64_t BoxCuts::MostBytes() {
  if (!resident_) return kMostBytes;
  for (int64_t most = kMostBytes; most <= kUnevenBytes; most *= 2) {
    if (HasBlocksOf(most)) return most;
  }
  for (size_t c = cuts_.size(); c-- > singles_;) {
    if (IsReversed(c)) continue;
    ragged_ = c;
    if (HasBlocksOf(kMostBytes)) return kMostBytes;
  }
  ragged_ = kNone;
  return kUnevenBytes;
}

bool BoxCuts::HasBlocksOf(int64_t most) {
  Choose(most);
  const bool whole =
      std::all_of(cuts_.begin(), cuts_.end(),
                  [](const BoxCut& c) { return c.block >= c.size; });
  return whole || BlockBytes() * 2 >= most;
}

bool BoxCuts::IsReversed(size_t c) const {
  return c < planes_->axes.size() && planes_->axes[c].reversed();
}

// Rows and lanes first: they are the long runs in memory.
void BoxCuts::Choose(int64_t most) {
  for (BoxCut& c : cuts_) c.block = c.unit;
  std::vector<size_t> order = {lanes(), rows()};
  for (size_t p = planes_->axes.size(); p-- > singles_;) order.push_back(p);
  for (const size_t c : order) {
    const int64_t units = CeilOfRatio(cuts_[c].size, cuts_[c].unit);
    for (int64_t grid = 1; grid <= units; ++grid) {
      if (!MayCut(c, units, grid)) continue;
      cuts_[c].block = CeilOfRatio(units, grid) * cuts_[c].unit;
      if (BlockBytes() <= most) break;
    }
  }
}

}  // namespace ptxla::lowering
