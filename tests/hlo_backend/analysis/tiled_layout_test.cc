#include "hlo_backend/analysis/tiled_layout.h"

#include <set>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

// What the TPU compiler prints for arguments whose layout is left open.
TEST(TiledLayoutTest, CompactLayoutsAreThoseOfTheTpuCompiler) {
  struct {
    int generation;
    const char* layout;
  } cases[] = {
      {2, "f32[]{:T(256)}"},
      {6, "f32[]{:T(128)}"},
      {6, "bf16[]{:T(256)}"},
      {6, "pred[]{:T(512)}"},
      {2, "s8[]{:T(1024)}"},
      {6, "f32[129]{0:T(256)}"},
      {6, "f32[513]{0:T(1024)}"},
      {6, "f32[5000]{0:T(1024)}"},
      {2, "bf16[64]{0:T(512)(128)(2,1)}"},
      {6, "bf16[64]{0:T(256)(128)(2,1)}"},
      {6, "bf16[2048]{0:T(1024)(128)(2,1)}"},
      {5, "s8[600]{0:T(1024)(128)(4,1)}"},
      {2, "s4[64]{0:T(1024)(128)(4,1)}"},
      {6, "s4[64]{0:T(1024)(128)(8,1)E(4)}"},
      {2, "f32[1,128]{1,0:T(2,128)}"},
      {4, "f32[1,128]{1,0:T(1,128)}"},
      {4, "f32[3,300]{1,0:T(4,128)}"},
      {7, "f32[5,128]{1,0:T(8,128)}"},
      {3, "bf16[1,128]{1,0:T(4,128)(2,1)}"},
      {7, "bf16[1,128]{1,0:T(2,128)(2,1)}"},
      {7, "bf16[64,128]{1,0:T(8,128)(2,1)}"},
      {3, "s8[64,128]{1,0:T(8,128)(4,1)}"},
      {6, "s8[64,128]{1,0:T(32,128)(4,1)}"},
      {6, "s8[40,128]{1,0:T(8,128)(4,1)}"},
      {6, "s4[64,128]{1,0:T(64,128)(8,1)E(4)}"},
      {6, "s2[16,128]{1,0:T(16,128)(16,1)E(2)}"},
      {6, "s1[40]{0:T(4096)(128)(32,1)E(1)}"},
      {6, "f32[100,200]{0,1:T(8,128)}"},
      {6, "f32[200,100]{1,0:T(8,128)}"},
      {6, "f32[2,100,200]{2,0,1:T(2,128)}"},
      {3, "f32[8,1,128]{2,0,1:T(8,128)}"},
      {6, "f32[8,1,128]{2,1,0:T(1,128)}"},
      {6, "bf16[64,3,7,7]{0,3,2,1:T(8,128)(2,1)}"},
      {6, "f32[512,512,3,3]{1,0,3,2:T(8,128)}"},
      {6, "f32[1024,30522]{0,1:T(8,128)}"},
      {6, "s8[12,128,64]{1,2,0:T(32,128)(4,1)}"},
  };
  for (const auto& c : cases) {
    ASSERT_OK_AND_ASSIGN(const Shape want, ParseShape(c.layout));
    Shape got = Shape::Array(want.type(), want.dims());
    got.set_layout(CompactTpuLayout(got, c.generation));
    EXPECT_EQ(got.ToStringWithLayout(), c.layout) << "v" << c.generation;
  }
}

TEST(TiledLayoutTest, TilesFollowTheGivenOrderAndKeepTheMemorySpace) {
  ASSERT_OK_AND_ASSIGN(const Shape shape, ParseShape("f32[100,200]{1,0:S(1)}"));
  EXPECT_EQ(WithTpuLayout(shape, 6).ToStringWithLayout(),
            "f32[100,200]{1,0:T(8,128)S(1)}");
}

int64_t Padded(absl::string_view text) {
  return PaddedBytes(ParseShape(text).value());
}

TEST(TiledLayoutTest, PaddingRoundsTheTiledDimensionsUp) {
  EXPECT_EQ(Padded("f32[100,200]{1,0:T(8,128)}"), 104 * 256 * 4);
  EXPECT_EQ(Padded("f32[100,200]{0,1:T(8,128)}"), 200 * 128 * 4);
  EXPECT_EQ(Padded("bf16[3,5,100]{2,1,0:T(8,128)(2,1)}"), 3 * 8 * 128 * 2);
  EXPECT_EQ(Padded("f32[16]{0:T(128)}"), 512);
  EXPECT_EQ(Padded("f32[]{:T(128)}"), 512);
  EXPECT_EQ(Padded("s4[100,200]{1,0:T(8,128)(8,1)E(4)}"), 104 * 256 / 2);
  EXPECT_EQ(Padded("(f32[16]{0:T(128)}, token[], f32[16]{0})"), 512 + 64);
  EXPECT_EQ(Padded("f32[0,128]{1,0:T(8,128)}"), 0);
  EXPECT_EQ(TpuBytes(ParseShape("(f32[1,1], bf16[9,129])").value(), 6),
            128 * 4 + 16 * 256 * 2);
}

TEST(TiledLayoutTest, NoElementLiesBeyondTheBytes) {
  for (const char* text : {"s1[4,5,4]", "s1[40]", "u2[2]", "u2[3,300]",
                           "s4[3,300]", "s8[5]", "bf16[7,3]", "f32[9,1]"}) {
    for (int generation = 2; generation <= 7; ++generation) {
      ASSERT_OK_AND_ASSIGN(Shape shape, ParseShape(text));
      shape.set_layout(CompactTpuLayout(shape, generation));
      ASSERT_OK_AND_ASSIGN(const TiledIndexer at, TiledIndexer::Create(shape));
      std::vector<int64_t> last;
      for (int64_t d : shape.dims()) last.push_back(d - 1);
      EXPECT_LT(at.BitOffset(last) / 8, PaddedBytes(shape))
          << shape.ToStringWithLayout() << " on v" << generation;
    }
  }
}

TEST(TiledLayoutTest, OffsetsFollowTheTiles) {
  ASSERT_OK_AND_ASSIGN(const Shape f32,
                       ParseShape("f32[24,300]{1,0:T(8,128)}"));
  ASSERT_OK_AND_ASSIGN(const TiledIndexer words, TiledIndexer::Create(f32));
  for (int64_t r : {0, 7, 8, 23}) {
    for (int64_t c : {0, 127, 128, 299}) {
      const int64_t tile = r / 8 * 3 + c / 128;
      EXPECT_EQ(words.BitOffset({r, c}) / 8,
                4 * (tile * 1024 + r % 8 * 128 + c % 128));
    }
  }
  // Two rows share the words of one: even rows in the low halves.
  ASSERT_OK_AND_ASSIGN(const Shape bf16,
                       ParseShape("bf16[16,256]{1,0:T(8,128)(2,1)}"));
  ASSERT_OK_AND_ASSIGN(const TiledIndexer halves, TiledIndexer::Create(bf16));
  for (int64_t r : {0, 1, 6, 15}) {
    for (int64_t c : {0, 127, 128, 255}) {
      const int64_t tile = r / 8 * 2 + c / 128;
      const int64_t word = r % 8 / 2 * 128 + c % 128;
      EXPECT_EQ(halves.BitOffset({r, c}) / 8,
                2 * (tile * 1024 + word * 2 + r % 2));
    }
  }
  // Long vectors: 128 lanes, then pairs of lane rows.
  ASSERT_OK_AND_ASSIGN(const Shape vector,
                       ParseShape("bf16[2048]{0:T(1024)(128)(2,1)}"));
  ASSERT_OK_AND_ASSIGN(const TiledIndexer v, TiledIndexer::Create(vector));
  EXPECT_EQ(v.BitOffset({1}) / 8, 2 * 2);
  EXPECT_EQ(v.BitOffset({128}) / 8, 2 * 1);
  EXPECT_EQ(v.BitOffset({256}) / 8, 2 * 256);
  EXPECT_EQ(v.BitOffset({1024}) / 8, 2 * 1024);
}

TEST(TiledLayoutTest, EveryElementHasItsOwnBits) {
  for (const char* text : {
           "f32[5,130]{1,0:T(8,128)}",
           "f32[5,130]{0,1:T(8,128)}",
           "bf16[3,9,200]{2,1,0:T(8,128)(2,1)}",
           "bf16[3,9,200]{0,2,1:T(4,128)(2,1)}",
           "s8[33,7,129]{1,2,0:T(8,128)(4,1)}",
           "s8[64,128]{1,0:T(32,128)(4,1)}",
           "s4[9,130]{1,0:T(8,128)(8,1)E(4)}",
           "pred[777]{0:T(1024)(128)(4,1)}",
           "f32[]{:T(128)}",
           "u64[3,4]{1,0}",
           "c64[2,3]{0,1}",
       }) {
    ASSERT_OK_AND_ASSIGN(const Shape shape, ParseShape(text));
    ASSERT_OK_AND_ASSIGN(const TiledIndexer at, TiledIndexer::Create(shape));
    std::set<int64_t> seen;
    std::vector<int64_t> index(shape.rank(), 0);
    for (int64_t n = 0; n < shape.ElementCount(); ++n) {
      const int64_t bit = at.BitOffset(index);
      EXPECT_EQ(bit % ElementBits(shape), 0) << text;
      EXPECT_TRUE(seen.insert(bit).second) << text;
      for (int d = shape.rank() - 1; d >= 0; --d) {
        if (++index[d] < shape.dim(d)) break;
        index[d] = 0;
      }
    }
  }
}

TEST(TiledLayoutTest, CombinedDimensionsHaveNoIndexer) {
  ASSERT_OK_AND_ASSIGN(const Shape combined,
                       ParseShape("f32[2,3]{1,0:T(*,128)}"));
  EXPECT_THAT(TiledIndexer::Create(combined).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr("combined dimensions")));
}

}  // namespace
}  // namespace ptxla::hlo
