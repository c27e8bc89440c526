// Blocks of products of experts, beside those of libtpu 0.0.42.1: dense weight
// gradients (v5p, two cores) and grouped rows.
#include "hlo_backend/lowering/products/ragged_tiling.h"

#include <gtest/gtest.h>

#include <string>
#include <utility>

#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

ProductTile TileOf(const std::string& name, const hlo::RaggedCall& call) {
  const auto chip = chips::ChipSpec::Load(name);
  EXPECT_OK(chip.status());
  const isa::MachineModel model = isa::FromChipSpec(*chip);
  const KernelContext context{*chip, model, nullptr};
  const auto tiling = ChooseRaggedTiling(
      context, call, hlo::PrimitiveType::kBf16, ArrayShapeOf(model, false));
  EXPECT_OK(tiling.status());
  return tiling.ok() ? tiling->tile : ProductTile();
}

ProductTile GradientTile(int64_t k, int64_t n) {
  hlo::RaggedCall call;
  call.by_groups = call.dense = true;
  call.rows = 131072;
  call.k = k;
  call.n = n;
  call.groups = 128;
  return TileOf("v5p", call);
}

std::pair<int64_t, int64_t> RowsTile(
    const std::string& chip, int64_t k, int64_t n,
    hlo::PrimitiveType result = hlo::PrimitiveType::kF32) {
  hlo::RaggedCall call;
  call.rows = 131072;
  call.k = k;
  call.n = n;
  call.groups = 256;
  call.result = result;
  call.tile_rows = chip == "v6e" ? 256 : 128;
  call.steps =
      hlo::RaggedCall::StepsFor(call.rows, call.tile_rows, call.groups);
  const ProductTile tile = TileOf(chip, call);
  return {tile.block_k, tile.block_n};
}

using KAndN = std::pair<int64_t, int64_t>;

TEST(RaggedTilingTest, RowsMeetAsManyColumnsAsThere) {
  EXPECT_EQ(RowsTile("v5p", 256, 7168), KAndN(256, 2560));
  EXPECT_EQ(RowsTile("v5p", 512, 7168), KAndN(512, 1920));
  EXPECT_EQ(RowsTile("v5p", 2048, 768), KAndN(2048, 640));
  EXPECT_EQ(RowsTile("v5e", 1024, 7168), KAndN(1024, 1152));
  EXPECT_EQ(RowsTile("v6e", 512, 7168), KAndN(512, 3840));
  EXPECT_EQ(RowsTile("v6e", 4096, 14336), KAndN(4096, 768));
}

TEST(RaggedTilingTest, RoundedRowsMeetMoreColumns) {
  EXPECT_EQ(RowsTile("v5p", 512, 7168, hlo::PrimitiveType::kBf16),
            KAndN(512, 2176));
  EXPECT_EQ(RowsTile("v6e", 512, 7168, hlo::PrimitiveType::kBf16),
            KAndN(512, 4608));
}

TEST(RaggedTilingTest, LongKIsCutWhereOneTileOfColumnsDoesNotFit) {
  EXPECT_EQ(RowsTile("v5p", 14336, 4096), KAndN(7808, 128));
  EXPECT_EQ(RowsTile("v6e", 14336, 4096), KAndN(11520, 256));
}

// There 240 and 376 rows of a step.
TEST(RaggedTilingTest, SmallBlocksTakeMoreRowsAtOnce) {
  EXPECT_EQ(GradientTile(1024, 1024).block_k, 256);
  EXPECT_EQ(GradientTile(768, 1024).block_k, 384);
}

// There 4 of 768 columns; 3 of 1,024 would leave a core idle.
TEST(RaggedTilingTest, BlocksOfColumnsAreEvenForTheCores) {
  const ProductTile tile = GradientTile(2880, 2880);
  EXPECT_EQ(tile.grid_n, 4);
  EXPECT_EQ(tile.block_n, 768);
}

// There 4 of 1,792, too: 8 of 896 would push weights for 64 rows of each array.
TEST(RaggedTilingTest, FewRowsHaveTwiceAsManyColumns) {
  EXPECT_EQ(GradientTile(256, 7168).block_n, 1792);
}

// As measured: one core makes it.
TEST(RaggedTilingTest, OneBlockOfColumnsStaysOne) {
  EXPECT_EQ(GradientTile(7168, 1024).grid_n, 1);
}

}  // namespace
}  // namespace ptxla::lowering
