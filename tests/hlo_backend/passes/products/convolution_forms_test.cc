// Do convolutions keep their numbers where passes give them another form, and
// is it the form that was meant? Small whole numbers: sums are exact in any
// order.
#include "tests/hlo_backend/passes/products/convolution_forms.h"

namespace ptxla::hlo {
namespace {

using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::Not;

TEST(SpaceToDepthTest, AStemOfAResnetHasFourTimesFewerTaps) {
  EXPECT_THAT(
      Converted(
          Convolution("128,14,14,3", "7,7,3,5", "128,7,7,5",
                      "size=7x7 stride=2x2 pad=3_3x3_3", "b01f_01io->b01f"),
          "space-to-depth"),
      HasSubstr("window={size=4x4 pad=2_1x2_1}, dim_labels=01bf_01io->01bf"));
}

TEST(SpaceToDepthTest, AnySizesStridesAndOrders) {
  struct Case {
    const char *x, *w, *out, *window, *labels;
  };
  for (const Case& c : std::vector<Case>{
           {"128,3,9,11", "4,3,3,5", "128,4,5,5",
            "size=3x5 stride=2x2 pad=1_1x1_1", "bf01_oi01->bf01"},
           {"9,10,128,1", "3,3,1,2", "4,3,128,2",
            "size=3x3 stride=2x3 pad=0_1x1_0", "01bf_01io->01bf"},
           {"8,8,2,128", "4,4,2,3", "3,2,2,128",
            "size=4x4 stride=4x4 pad=2_1x-1_2", "01fb_01io->f01b"},
           {"128,7,6,4", "2,1,4,3", "128,6,3,3", "size=2x1 stride=1x2",
            "b01f_01io->b01f"},
           {"128,8,8,3", "4,4,3,2", "128,2,2,2",
            "size=4x4 stride=4x4 rhs_dilate=1x1", "b01f_01io->b01f"}}) {
    EXPECT_THAT(
        Converted(Convolution(c.x, c.w, c.out, c.window, c.labels, "bf16"),
                  "space-to-depth"),
        HasSubstr("dim_labels=01bf_01io->01bf"))
        << c.x;
  }
}

TEST(SpaceToDepthTest, GradientsOfTheWeightsToo) {
  EXPECT_THAT(
      Converted(Convolution("128,8,8,3", "128,4,4,5", "3,3,3,5",
                            "size=4x4 rhs_dilate=2x2 pad=1_0x1_0",
                            "f01b_i01o->01bf", "bf16"),
                "space-to-depth"),
      HasSubstr("window={size=4x4 pad=1_0x1_0}, dim_labels=01fb_i01o->01fb"));
  EXPECT_THAT(Converted(Convolution("128,3,9,7", "128,2,4,4", "3,5,2,2",
                                    "size=4x4 rhs_dilate=2x2 pad=1_1x1_0",
                                    "fb01_io01->b01f"),
                        "space-to-depth"),
              HasSubstr("01fb_io01->01fb"));
}

// Steps as large as the kernel: its taps are one block, more results than there
// are positions.
TEST(SpaceToDepthTest, GradientsOfPatchesToo) {
  EXPECT_THAT(Converted(Convolution("128,16,16,3", "128,4,4,5", "3,4,4,5",
                                    "size=4x4 rhs_dilate=4x4",
                                    "f01b_i01o->b01f", "bf16"),
                        "space-to-depth"),
              HasSubstr("window={size=4x4}, dim_labels=01fb_i01o->01fb"));
}

TEST(SpaceToDepthTest, TheGradientOfAnImageIsMadeInBlocks) {
  EXPECT_THAT(Converted(Convolution("128,7,7,5", "7,7,3,5", "128,14,14,3",
                                    "size=7x7 pad=3_4x3_4 lhs_dilate=2x2",
                                    "b01f_01oi->b01f"),
                        "space-to-depth"),
              HasSubstr("window={size=4x4 pad=1_2x1_2 rhs_reversal=1x1}, "
                        "dim_labels=b01f_01oi->01bf"));
}

TEST(SpaceToDepthTest, GradientsOfImagesOfAnySizesStepsAndOrders) {
  struct Case {
    const char *x, *w, *out, *window, *labels;
  };
  for (const Case& c : std::vector<Case>{
           {"8,5,4,5", "3,5,3,5", "8,3,9,11",
            "size=3x5 pad=1_3x3_3 lhs_dilate=2x2", "bf01_oi01->bf01"},
           // One axis steps; the window is reversed along one.
           {"4,3,128,4", "3,3,2,4", "4,7,128,2",
            "size=3x3 pad=1_1x0_4 lhs_dilate=1x2 rhs_reversal=1x0",
            "01bf_01oi->01bf"},
           // Steps larger than the kernel, and borders that are cut off.
           {"3,3,2,16", "2,2,2,2", "8,8,2,16",
            "size=2x2 pad=0_0x-1_1 lhs_dilate=4x4", "01fb_01io->01fb"},
           {"8,3,3,16", "8,8,5,16", "8,24,24,5",
            "size=8x8 pad=7_7x7_7 lhs_dilate=8x8 rhs_reversal=1x1",
            "b01f_01oi->b01f"},
           {"128,6,2,3", "3,4,2,3", "128,18,7,2",
            "size=3x4 pad=2_2x5_1 lhs_dilate=3x3", "b01f_01oi->b01f"},
           // Of one image, and of three.
           {"1,5,6,4", "3,3,1,4", "1,10,12,1",
            "size=3x3 pad=1_2x1_2 lhs_dilate=2x2", "b01f_01oi->b01f"},
           {"3,4,6,5", "4,2,4,4", "3,2,12,10",
            "size=4x4 pad=2_2x2_2 lhs_dilate=2x2", "bf01_io01->bf01"}}) {
    EXPECT_THAT(
        Converted(Convolution(c.x, c.w, c.out, c.window, c.labels, "bf16"),
                  "space-to-depth"),
        AllOf(HasSubstr("->01bf"), Not(HasSubstr("lhs_dilate"))))
        << c.x;
  }
}

// Their columns fill more lanes than the batch: those stay there meanwhile.
TEST(SpaceToDepthTest, ImagesOfSmallBatchesKeepTheirColumnsInLanes) {
  struct Case {
    const char *x, *w, *out, *window, *labels;
  };
  for (const Case& c : std::vector<Case>{
           {"8,3,9,11", "4,3,3,5", "8,4,5,5", "size=3x5 stride=2x2 pad=1_1x1_1",
            "bf01_oi01->bf01"},
           // Features of a step that are no whole rows of tiles by channels.
           {"8,9,10,3", "3,3,3,2", "8,3,4,2", "size=3x3 stride=3x3 pad=0_0x1_1",
            "b01f_01io->b01f"},
           {"16,20,2,8", "4,4,2,3", "3,4,5,8",
            "size=4x4 stride=4x4 pad=-2_2x0_0", "01fb_01io->f01b"},
           // Batches of part of a tile.
           {"9,3,9,11", "4,3,3,5", "9,4,5,5", "size=3x5 stride=2x2 pad=1_1x1_1",
            "bf01_oi01->bf01"},
           {"3,2,24,33", "4,2,8,8", "3,4,3,5",
            "size=8x8 stride=8x8 pad=0_0x3_4", "bf01_oi01->bf01"},
           // Steps of whole tiles of rows.
           {"8,2,24,33", "4,2,8,8", "8,4,3,5",
            "size=8x8 stride=8x8 pad=0_0x3_4", "bf01_oi01->bf01"},
           {"8,2,80,80", "8,3,10,10", "2,3,8,8", "size=10x10 rhs_dilate=8x8",
            "fb01_io01->bf01"},
           // The gradient of weights.
           {"8,3,19,17", "8,2,9,8", "3,5,3,2",
            "size=9x8 rhs_dilate=2x2 pad=1_1x0_0", "fb01_io01->b01f"}}) {
    EXPECT_THAT(
        Converted(Convolution(c.x, c.w, c.out, c.window, c.labels, "bf16"),
                  "space-to-depth"),
        AnyOf(HasSubstr("dimensions={0,2,3,1,4}"),
              HasSubstr("dimensions={2,4,1,3,0}")))
        << c.x;
  }
}

TEST(SpaceToDepthTest, OtherConvolutionsStay) {
  const auto stays = [](const std::string& text) {
    const std::string out = Converted(text, "space-to-depth");
    EXPECT_EQ(out.find("reshape"), std::string::npos) << out;
  };
  // No step; many features; one image; the gradient of more features.
  stays(Convolution("128,6,6,3", "3,3,3,2", "128,4,4,2", "size=3x3",
                    "b01f_01io->b01f"));
  stays(Convolution("128,5,5,9", "3,3,9,2", "128,2,2,2", "size=3x3 stride=2x2",
                    "b01f_01io->b01f"));
  stays(Convolution("1,5,5,3", "3,3,3,2", "1,2,2,2", "size=3x3 stride=2x2",
                    "b01f_01io->b01f"));
  stays(Convolution("128,2,2,3", "3,3,3,9", "128,5,5,9",
                    "size=3x3 lhs_dilate=2x2 pad=2_2x2_2", "b01f_01io->b01f"));
}

TEST(SpaceToBatchTest, OneImageBecomesABatchOfEight) {
  EXPECT_THAT(
      Converted(Convolution("1,5,16,3", "3,3,3,2", "1,5,16,2",
                            "size=3x3 pad=1_1x1_1", "b01f_01io->b01f"),
                "space-to-batch"),
      HasSubstr("window={size=3x3 pad=1_1x0_0}, dim_labels=01bf_01io->01bf"));
}

TEST(SpaceToBatchTest, AnySizesStridesAndOrders) {
  struct Case {
    const char *x, *w, *out, *window, *labels;
  };
  for (const Case& c : std::vector<Case>{
           // Columns beyond the image, in the last block.
           {"1,4,21,3", "3,3,3,2", "1,4,21,2", "size=3x3 pad=1_1x1_1",
            "b01f_01io->b01f"},
           {"2,3,6,40", "4,3,3,5", "2,4,4,38", "size=3x5 pad=0_0x2_0",
            "bf01_oi01->bf01"},
           {"3,3,6,16", "4,3,3,3", "3,4,6,8", "size=3x3 stride=1x2 pad=1_1x0_1",
            "bf01_oi01->bf01"},
           {"4,3,6,16", "4,3,3,3", "4,4,6,8", "size=3x3 stride=1x2 pad=1_1x1_0",
            "bf01_oi01->bf01"},
           {"1,6,24,3", "3,3,3,2", "1,6,24,2",
            "size=3x3 pad=1_1x2_2 rhs_dilate=1x2 rhs_reversal=1x1",
            "b01f_01io->b01f"},
           // Of one axis, and of three.
           {"1,32,3", "3,3,2", "1,30,2", "size=3", "b0f_0io->b0f"},
           {"2,4,3,16,3", "3,1,3,3,2", "2,4,3,16,2",
            "size=3x1x3 pad=1_1x0_0x1_1", "b012f_012io->b012f"}}) {
    const std::string out =
        Converted(Convolution(c.x, c.w, c.out, c.window, c.labels, "bf16"),
                  "space-to-batch");
    EXPECT_THAT(out, HasSubstr("bf_")) << c.x;
    EXPECT_THAT(out, HasSubstr("concatenate")) << c.x;
  }
}

// Blocks of two columns have no three for the one before.
TEST(SpaceToBatchTest, AWindowSeesTheNextBlockOnly) {
  EXPECT_THAT(
      Converted(Convolution("1,3,16,3", "3,3,3,2", "1,3,7,2",
                            "size=3x3 stride=1x2 pad=1_1x0_1 rhs_dilate=1x2",
                            "b01f_01io->b01f"),
                "space-to-batch"),
      Not(HasSubstr("concatenate")));
}

TEST(SpaceToBatchTest, GradientsOfWeightsContractWholeRows) {
  EXPECT_THAT(
      Converted(Convolution("1,9,16,3", "1,9,16,2", "3,3,3,2",
                            "size=9x16 pad=1_1x1_1", "f01b_i01o->01bf"),
                "space-to-batch"),
      HasSubstr("window={size=2x9 pad=0_0x1_1}, dim_labels=01fb_01io->01bf"));
}

TEST(SpaceToBatchTest, GradientsOfAnySizesStepsAndOrders) {
  struct Case {
    const char *x, *w, *out, *window, *labels;
  };
  for (const Case& c : std::vector<Case>{
           // A batch that does not divide rows, and one that does.
           {"3,20,5,4", "3,20,5,2", "3,3,4,2", "size=20x5 pad=1_1x1_1",
            "f01b_i01o->01bf"},
           {"4,3,9,7", "4,2,9,7", "2,3,3,3", "size=9x7 pad=1_1x1_1",
            "fb01_io01->fb01"},
           // Of steps; of no borders; part of the image never seen.
           {"2,3,16,32", "2,4,8,16", "4,3,3,3",
            "size=8x16 pad=1_0x0_1 rhs_dilate=2x2", "fb01_io01->fb01"},
           {"4,10,18,3", "4,8,16,2", "3,3,3,2", "size=8x16", "f01b_i01o->01bf"},
           {"1,6,33,3", "1,5,16,2", "2,2,3,2",
            "size=5x16 pad=0_0x0_-1 rhs_dilate=1x2", "f01b_i01o->01bf"},
           // One tap; one axis, and three.
           {"1,16,2,5", "1,16,2,3", "1,1,5,3", "size=16x2", "f01b_i01o->01bf"},
           {"1,40,3", "1,40,2", "5,3,2", "size=40 pad=2_2", "f0b_i0o->0bf"},
           {"4,4,6,3,3", "4,4,6,3,2", "3,3,1,3,2", "size=4x6x3 pad=1_1x1_1x0_0",
            "f012b_i012o->012bf"}}) {
    EXPECT_THAT(
        Converted(Convolution(c.x, c.w, c.out, c.window, c.labels, "bf16"),
                  "space-to-batch"),
        AnyOf(HasSubstr("01fb_01io->01bf"), HasSubstr("0fb_0io->0bf"),
              HasSubstr("012fb_012io->012bf")))
        << c.x;
  }
}

TEST(SpaceToBatchTest, GradientsOfGroupedWeightsToo) {
  EXPECT_THAT(
      Converted(
          WithGroups(Convolution("1,9,16,6", "1,9,16,4", "3,3,3,4",
                                 "size=9x16 pad=1_1x1_1", "f01b_i01o->01bf"),
                     "batch_group_count", 2),
          "space-to-batch"),
      AllOf(HasSubstr("01fb_01io->01bf"), HasSubstr("batch_group_count=2")));
}

TEST(SpaceToBatchTest, OtherConvolutionsStay) {
  const auto stays = [](const std::string& text) {
    const std::string out = Converted(text, "space-to-batch");
    EXPECT_EQ(out.find("reshape"), std::string::npos) << out;
  };
  // A whole batch; too few columns, also of wide windows; one tap; a gradient
  // of weights that see more than the next block, or of a batch of more than a
  // tile's rows; of a strided input.
  stays(Convolution("8,5,16,3", "3,3,3,2", "8,5,16,2", "size=3x3 pad=1_1x1_1",
                    "b01f_01io->b01f"));
  stays(Convolution("1,16,13,3", "3,3,3,2", "1,16,13,2", "size=3x3 pad=1_1x1_1",
                    "b01f_01io->b01f"));
  stays(Convolution("1,9,9,3", "7,7,3,2", "1,9,9,2", "size=7x7 pad=3_3x3_3",
                    "b01f_01io->b01f"));
  stays(Convolution("1,7,16,3", "1,1,3,2", "1,7,16,2", "size=1x1",
                    "b01f_01io->b01f"));
  stays(Convolution("1,12,12,1", "1,8,8,2", "5,5,1,2", "size=8x8",
                    "f01b_i01o->01bf"));
  stays(Convolution("12,9,7,3", "12,9,7,2", "3,3,3,2", "size=9x7 pad=1_1x1_1",
                    "f01b_i01o->01bf"));
  stays(Convolution("8,18,5,1", "8,16,5,2", "1,3,1,2", "size=16x5",
                    "f01b_i01o->b01f"));
  stays(Convolution("1,5,8,3", "3,3,3,2", "1,5,17,2",
                    "size=3x3 pad=1_1x2_2 lhs_dilate=1x2", "b01f_01io->b01f"));
}

}  // namespace
}  // namespace ptxla::hlo
