#include "isa/grid.h"

#include <algorithm>
#include <random>

#include "gtest/gtest.h"

namespace ptxla::isa {
namespace {

Kernel KernelWith(std::vector<int64_t> grid, std::vector<WindowDim> dims) {
  Kernel k;
  k.args = {{"a", Space::kHbm, Direction::kIn, 1 << 20}};
  k.grid = std::move(grid);
  Window w;
  w.dims = std::move(dims);
  w.inner_bytes = 512;
  k.windows = {w};
  return k;
}

TEST(GridTest, BlocksAreClampedAtTheExtent) {
  // 10 rows of 512 B in blocks of 4: the last has 2.
  const Kernel k = KernelWith({3}, {{4, 10, 512, 512, 0}});
  GridWalk walk(k);
  walk.Seek(2);
  const Box box = walk.CurrentBox(0);
  EXPECT_EQ(box.bytes, 2 * 512);
  EXPECT_EQ(box.hbm_start, 8 * 512);
  EXPECT_EQ(box.vmem_start, 0);
  EXPECT_EQ(box.chunks, 1);
}

TEST(GridTest, PaddingInFrontMovesTheDataInTheSlot) {
  const Kernel k = KernelWith({2}, {{4, 10, 512, 1024, 0, 1, 2, -1}});
  const Box box = BoxAt(k.windows[0], {0});
  EXPECT_EQ(box.start[0], 0);
  EXPECT_EQ(box.size[0], 3);
  EXPECT_EQ(box.vmem_start, 1024);
}

TEST(GridTest, ContiguousDimensionsMakeOneChunk) {
  // Two rows of four 512 B units, dense inside a row, rows 4096 B apart.
  const Kernel k = KernelWith({}, {{2, 8, 4096, 2048}, {4, 8, 512, 512}});
  const Box box = BoxAt(k.windows[0], {});
  EXPECT_EQ(box.chunk_bytes, 2048);
  EXPECT_EQ(box.chunks, 2);
}

TEST(GridTest, BlockChangesMatchesCountingThem) {
  std::mt19937 rng(7);
  for (int round = 0; round < 300; ++round) {
    const int rank = 1 + rng() % 3;
    std::vector<int64_t> grid;
    for (int d = 0; d < rank; ++d) grid.push_back(1 + rng() % 5);
    std::vector<WindowDim> dims;
    for (int d = 0; d < rank; ++d) {
      if (rng() % 2 == 0) continue;
      WindowDim dim{1, 100, 512, 512, d};
      dim.grid_divisor = 1 + rng() % 3;
      dims.push_back(dim);
    }
    Kernel k = KernelWith(grid, dims);
    k.windows[0].slots = 1 + rng() % 5;
    k.megacore_dim = static_cast<int>(rng() % (rank + 1)) - 1;
    const int cores = k.megacore_dim < 0 ? 1 : 2;
    for (int core = 0; core < cores; ++core) {
      GridWalk walk(k, core, cores);
      const int slots = k.windows[0].slots;
      int64_t transfers = 0, blocks = 0;
      std::vector<int64_t> last;
      for (int64_t s = 0; s < walk.num_steps(); ++s) {
        s == 0 ? walk.Seek(0) : walk.Next();
        std::vector<int64_t> block;
        for (const WindowDim& d : k.windows[0].dims) {
          block.push_back(BlockIndex(d, walk.index()));
        }
        if (s == 0 || block != last) ++blocks;
        last = block;
        if (s == 0) {
          transfers = static_cast<int64_t>(walk.EntrySteps(0).size());
        }
        EXPECT_EQ(walk.BlockChanges(0, s), blocks - 1);
        EXPECT_EQ(walk.AwaitedTransfer(0), blocks - 1);
        if (walk.StartMoves(0)) {
          EXPECT_EQ(walk.StartedTransfer(0), transfers);
          ++transfers;
        }
        // The block is under way, and none comes into a slot in use.
        EXPECT_GE(transfers, blocks);
        EXPECT_LE(transfers - blocks, std::max(1, slots - 1));
      }
      EXPECT_EQ(CountTransfers(k, 0, core, cores), transfers);
    }
  }
}

TEST(GridTest, CoresShareTheGridWithoutOverlap) {
  Kernel k = KernelWith({3, 5}, {});
  k.megacore_dim = 1;
  std::vector<std::vector<int64_t>> seen;
  for (int core = 0; core < 2; ++core) {
    GridWalk walk(k, core, 2);
    for (int64_t s = 0; s < walk.num_steps(); ++s) {
      walk.Seek(s);
      seen.push_back(walk.index());
    }
  }
  std::sort(seen.begin(), seen.end());
  EXPECT_EQ(std::unique(seen.begin(), seen.end()), seen.end());
  EXPECT_EQ(seen.size(), 15);
}

TEST(GridTest, AnOutputIsWrittenBackWhenItsBlockIsAboutToChange) {
  // k is the inner dimension; the output moves with m only.
  Kernel k = KernelWith({2, 3}, {{4, 8, 512, 512, 0}});
  k.windows[0].direction = Direction::kOut;
  GridWalk walk(k);
  std::vector<bool> moves;
  for (int64_t s = 0; s < 6; ++s) {
    walk.Seek(s);
    moves.push_back(walk.StartMoves(0));
  }
  EXPECT_EQ(moves, (std::vector<bool>{false, false, true, false, false, true}));
  EXPECT_EQ(walk.StartedTransfer(0), 1);
  EXPECT_EQ(walk.AwaitedTransfer(0), -1);
}

}  // namespace
}  // namespace ptxla::isa
