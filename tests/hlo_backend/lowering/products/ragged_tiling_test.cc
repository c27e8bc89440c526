// Blocks of dense weight gradients of experts, beside the windows of
// libtpu 0.0.42.1 (v5p, two cores).
#include "hlo_backend/lowering/products/ragged_tiling.h"

#include <gtest/gtest.h>

#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

ProductTile TileOf(int64_t k, int64_t n) {
  const auto chip = chips::ChipSpec::Load("v5p");
  EXPECT_OK(chip.status());
  const isa::MachineModel model = isa::FromChipSpec(*chip);
  const KernelContext context{*chip, model, nullptr};
  hlo::RaggedCall call;
  call.by_groups = call.dense = true;
  call.rows = 131072;
  call.k = k;
  call.n = n;
  call.groups = 128;
  const auto tiling = ChooseRaggedTiling(
      context, call, hlo::PrimitiveType::kBf16, ArrayShapeOf(model, false));
  EXPECT_OK(tiling.status());
  return tiling.ok() ? tiling->tile : ProductTile();
}

// There 240 and 376 rows of a step.
TEST(RaggedTilingTest, SmallBlocksTakeMoreRowsAtOnce) {
  EXPECT_EQ(TileOf(1024, 1024).block_k, 256);
  EXPECT_EQ(TileOf(768, 1024).block_k, 384);
}

// There 4 of 768 columns; 3 of 1,024 would leave a core idle.
TEST(RaggedTilingTest, BlocksOfColumnsAreEvenForTheCores) {
  const ProductTile tile = TileOf(2880, 2880);
  EXPECT_EQ(tile.grid_n, 4);
  EXPECT_EQ(tile.block_n, 768);
}

// There 4 of 1,792, too: 8 of 896 would push weights for 64 rows of each array.
TEST(RaggedTilingTest, FewRowsHaveTwiceAsManyColumns) {
  EXPECT_EQ(TileOf(256, 7168).block_n, 1792);
}

// As measured: one core makes it.
TEST(RaggedTilingTest, OneBlockOfColumnsStaysOne) {
  EXPECT_EQ(TileOf(7168, 1024).grid_n, 1);
}

}  // namespace
}  // namespace ptxla::lowering
