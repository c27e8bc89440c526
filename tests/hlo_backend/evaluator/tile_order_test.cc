// Bitcasts of tiled layouts, as TPU compilers write them into scheduled
// modules.
#include <cstdint>
#include <vector>

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Element `at` of a bitcast of numbers that count from 0.
double Bitcast(absl::string_view from, absl::string_view to, int64_t at) {
  const auto result = EvaluateText(
      absl::StrCat("HloModule m\nENTRY e {\n  p = ", from,
                   " parameter(0)\n  ROOT y = ", to, " bitcast(p)\n}\n"),
      [&] {
        Literal counting(Shape::Array(PrimitiveType::kF32, {8, 256}));
        for (int64_t i = 0; i < 8 * 256; ++i) {
          counting.Set<float>(i, static_cast<float>(i));
        }
        return std::vector<Literal>{counting};
      }());
  EXPECT_OK(result.status());
  return result.ok() ? result->GetDouble(at) : -1;
}

TEST(TileOrderTest, TilesFollowOneAnother) {
  const char* from = "f32[8,256]{1,0:T(8,128)}";
  const char* to = "f32[2,8,128]{2,1,0:T(8,128)}";
  EXPECT_EQ(Bitcast(from, to, 5), 5);
  EXPECT_EQ(Bitcast(from, to, 128), 256) << "[0,1,0]";
  EXPECT_EQ(Bitcast(from, to, 8 * 128), 128) << "[1,0,0]";
}

TEST(TileOrderTest, RowsOfTilesAreALine) {
  EXPECT_EQ(Bitcast("f32[8,256]{1,0:T(8,128)}", "f32[2048]{0:T(1024)}", 128),
            256);
}

TEST(TileOrderTest, WholeRowsOfTilesAreThoseOfTheDimensions) {
  EXPECT_EQ(Bitcast("f32[8,256]{1,0:T(8,128)}", "f32[256,8]{0,1:T(8,128)}", 1),
            256)
      << "the transpose";
}

TEST(TileOrderTest, WithoutTilesDimensionsDecide) {
  EXPECT_EQ(Bitcast("f32[8,256]{1,0}", "f32[2,8,128]{2,1,0}", 128), 128);
}

}  // namespace
}  // namespace ptxla::hlo
