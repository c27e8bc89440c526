#include "isa/alike_steps.h"

#include <map>
#include <random>

#include "gtest/gtest.h"
#include "isa/timing.h"

namespace ptxla::isa {
namespace {

// What tells two steps apart, of all windows.
std::vector<int64_t> LooksOf(const Kernel& kernel, const GridWalk& walk) {
  std::vector<int64_t> looks = {StepFlags(walk)};
  for (int w = 0; w < static_cast<int>(kernel.windows.size()); ++w) {
    if (!walk.StartMoves(w)) {
      looks.push_back(-1);
      continue;
    }
    const Box box = walk.StartBox(w);
    looks.insert(looks.end(), {box.bytes, box.chunk_bytes});
  }
  return looks;
}

Window RandomWindow(const std::vector<int64_t>& grid, std::mt19937* rng) {
  const auto upto = [rng](int n) { return static_cast<int64_t>((*rng)() % n); };
  Window w;
  w.inner_bytes = 128;
  w.direction = upto(2) == 0 ? Direction::kIn : Direction::kOut;
  w.slots = static_cast<int>(1 + upto(4));
  const auto rank = static_cast<int>(grid.size());
  for (int64_t n = upto(4); n > 0; --n) {
    WindowDim d;
    d.grid_dim = static_cast<int>(upto(rank + 1)) - 1;
    d.block = 1 + upto(4);
    d.extent = 1 + upto(24);
    d.hbm_stride = d.vmem_stride = 128;
    d.grid_divisor = 1 + upto(3);
    d.advance = upto(3);
    d.origin = -upto(3);
    if (d.grid_dim >= 0 && upto(4) == 0) {
      for (int64_t i = 0; i < grid[d.grid_dim]; ++i) d.table.push_back(upto(3));
    }
    w.dims.push_back(d);
  }
  return w;
}

class AlikeStepsTest : public testing::TestWithParam<int> {};

TEST_P(AlikeStepsTest, AgreesWithALookAtEveryStep) {
  std::mt19937 rng(GetParam());
  for (int round = 0; round < 200; ++round) {
    Kernel k;
    k.args = {{"a", Space::kHbm, Direction::kIn, 1 << 20}};
    for (int rank = rng() % 4; rank > 0; --rank) {
      k.grid.push_back(1 + rng() % 12);
    }
    for (int n = rng() % 4; n > 0; --n) {
      k.windows.push_back(RandomWindow(k.grid, &rng));
    }
    k.megacore_dim = static_cast<int>(rng() % (k.grid.size() + 1)) - 1;
    const int cores = k.megacore_dim < 0 ? 1 : 2;
    for (int core = 0; core < cores; ++core) {
      std::map<std::vector<int64_t>, int32_t> known;
      const auto number = [&](const GridWalk& at) {
        return known.try_emplace(LooksOf(k, at), known.size()).first->second;
      };
      GridWalk each(k, core, cores);
      std::vector<int32_t> expected;
      for (int64_t s = 0; s < each.num_steps(); ++s) {
        each.Seek(s);
        expected.push_back(number(each));
      }
      known.clear();
      GridWalk walk(k, core, cores);
      ASSERT_EQ(NumberAlikeSteps(k, &walk, number), expected)
          << "round " << round << " core " << core;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, AlikeStepsTest, testing::Range(0, 8));

TEST(AlikeStepsTest, LooksAtFewStepsOfALongGrid) {
  Kernel k;
  k.args = {{"a", Space::kHbm, Direction::kIn, int64_t{1} << 40}};
  k.grid = {512, 4, 256, 14};
  Window w;
  w.inner_bytes = 512;
  w.dims = {{8, 4096, 512, 512, 0}, {8, 112, 512, 512, 3}};
  k.windows = {w};
  GridWalk walk(k);
  int looks = 0;
  const auto steps = NumberAlikeSteps(
      k, &walk, [&](const GridWalk&) { return static_cast<int32_t>(++looks); });
  EXPECT_EQ(steps.size(), 512u * 4 * 256 * 14);
  EXPECT_LT(looks, 200);
}

}  // namespace
}  // namespace ptxla::isa
