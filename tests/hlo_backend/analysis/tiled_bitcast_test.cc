// Which reshapes move no bytes.
#include "hlo_backend/analysis/tiled_bitcast.h"

#include "hlo_backend/analysis/tiled_layout.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

Shape F32(const DimVector& dims) {
  return WithTpuLayout(Shape::Array(PrimitiveType::kF32, dims), 5);
}

Shape Bf16(const DimVector& dims) {
  return WithTpuLayout(Shape::Array(PrimitiveType::kBf16, dims), 5);
}

TEST(TiledBitcastTest, RowsInWholeTilesFollowOneAnother) {
  EXPECT_TRUE(IsTiledBitcast(F32({1024, 640}), F32({8, 128, 640})));
  EXPECT_FALSE(IsTiledBitcast(F32({1020, 640}), F32({10, 102, 640})));
}

TEST(TiledBitcastTest, RowsOfOneTileOfLanesDoWhateverTheHeightOfTheTiles) {
  EXPECT_TRUE(IsTiledBitcast(F32({30528, 128}), F32({30528, 1, 128})));
  EXPECT_TRUE(IsTiledBitcast(F32({256, 1, 1, 128}), F32({1, 1, 256, 128})));
  // A lone plane may end inside of a tile, which the name leaves out.
  EXPECT_TRUE(IsTiledBitcast(F32({30522, 100}), F32({30522, 1, 100})));
  // Two tiles of lanes: their rows take turns in one of the arrays only.
  EXPECT_FALSE(IsTiledBitcast(F32({30528, 256}), F32({30528, 1, 256})));
  // Words of bf16 hold two rows of a plane: four heads of eight groups are 32.
  EXPECT_TRUE(IsTiledBitcast(Bf16({64, 8, 4, 128}), Bf16({64, 32, 128})));
  EXPECT_FALSE(IsTiledBitcast(Bf16({64, 8, 3, 128}), Bf16({64, 24, 128})));
  EXPECT_FALSE(IsTiledBitcast(Bf16({30528, 128}), Bf16({30528, 1, 128})));
}

TEST(TiledBitcastTest, ARowOfWordsIsALine) {
  EXPECT_TRUE(IsTiledBitcast(F32({13107200}), F32({1, 13107200})));
  EXPECT_TRUE(IsTiledBitcast(F32({1, 13107200}), F32({13107200})));
  EXPECT_TRUE(IsTiledBitcast(F32({30522}), F32({1, 1, 30522})));
  // A line takes whole tiles of 1,024.
  EXPECT_FALSE(IsTiledBitcast(F32({1, 30522}), F32({30522})));
  EXPECT_FALSE(IsTiledBitcast(F32({8192}), F32({2, 4096})));
  EXPECT_FALSE(IsTiledBitcast(Bf16({8192}), Bf16({1, 8192})));
}

TEST(TiledBitcastTest, ANameTakesNoMoreBytesThanTheArray) {
  EXPECT_FALSE(IsTiledBitcast(F32({30522, 1, 128}), F32({30522, 128})));
}

}  // namespace
}  // namespace ptxla::hlo
