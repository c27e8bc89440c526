#include "hlo_backend/lowering/products/tile_bounds.h"

#include <algorithm>

#include "base/units.h"

namespace ptxla::lowering {
namespace {

// Numbers of steps that are tried between two of the coarse ones.
constexpr int64_t kBetween = 16;

}  // namespace

std::vector<int64_t> GridBounds(int64_t extent, int64_t unit) {
  static constexpr int64_t kBounds[] = {
      1,  2,  3,  4,   5,   6,   8,   10,  12,  16,   20,   24,  32,
      48, 64, 96, 128, 192, 256, 384, 512, 768, 1024, 2048, 4096};
  std::vector<int64_t> bounds;
  int64_t last_block = -1;
  for (int64_t bound : kBounds) {
    const int64_t block = RoundUpTo(CeilOfRatio(extent, bound), unit);
    if (block == last_block) continue;  // the same tiles again
    last_block = block;
    bounds.push_back(CeilOfRatio(extent, block));
    if (block == unit) break;
  }
  return bounds;
}

std::vector<int64_t> BatchBlocks(const ProductProblem& p) {
  std::vector<int64_t> blocks;
  const int64_t members = std::max<int64_t>(p.members, 1);
  const int64_t others = std::max<int64_t>(p.batch / members, 1);
  for (int64_t bound : GridBounds(others, 1)) {
    blocks.push_back(CeilOfRatio(others, bound) * members);
  }
  const int64_t unit = p.member_unit;
  for (int64_t part = members / 2 / unit * unit; part > 0; part -= unit) {
    if (members % part == 0) blocks.push_back(part);
  }
  return blocks;
}

std::vector<MxuSplit> MxuSplits(int mxus) {
  std::vector<MxuSplit> splits;
  for (int b = 1; b <= mxus; b *= 2) {
    for (int n = 1; b * n <= mxus; n *= 2) {
      for (int m = 1; b * n * m <= mxus; m *= 2) splits.push_back({b, n, m});
    }
  }
  return splits;
}

std::vector<int64_t> BoundsNear(int64_t extent, int64_t unit, int64_t bound) {
  int64_t below = 1, above = bound;
  for (int64_t coarse : GridBounds(extent, unit)) {
    if (coarse < bound) below = coarse;
    if (coarse > bound) {
      above = coarse;
      break;
    }
  }
  std::vector<int64_t> bounds;
  int64_t last_block = -1;
  const int64_t step = CeilOfRatio(above - below, kBetween);
  for (int64_t g = below + step; step > 0 && g < above; g += step) {
    const int64_t block = RoundUpTo(CeilOfRatio(extent, g), unit);
    const int64_t steps = CeilOfRatio(extent, block);
    if (block == last_block || steps == bound || steps == 1) continue;
    last_block = block;
    bounds.push_back(steps);
  }
  return bounds;
}

}  // namespace ptxla::lowering
