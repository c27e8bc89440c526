// Groups of a convolution in other forms, and convolutions of one tap.
#include "tests/hlo_backend/passes/products/convolution_forms.h"

namespace ptxla::hlo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

// Groups of one feature, of parts of a tile, of whole tiles and of neither;
// unequal numbers in and out; weights in another order.
TEST(GroupedFeaturesTest, AreADenseConvolution) {
  struct Case {
    const char *x, *w, *out, *labels;
    int groups;
  };
  for (const Case& c : std::vector<Case>{
           {"2,4,4,6", "3,3,1,6", "2,4,4,6", "b01f_01io->b01f", 6},
           {"2,4,4,6", "3,3,1,12", "2,4,4,12", "b01f_01io->b01f", 6},
           {"2,4,4,16", "3,3,4,12", "2,4,4,12", "b01f_01io->b01f", 4},
           {"2,4,4,12", "3,3,4,6", "2,4,4,6", "b01f_01io->b01f", 3},
           {"2,16,4,4", "8,2,3,3", "2,8,4,4", "bf01_oi01->bf01", 8},
           {"2,4,4,16", "3,3,8,6", "2,4,4,6", "b01f_01io->b01f", 2},
           {"2,20,4,4", "6,10,3,3", "2,6,4,4", "bf01_oi01->bf01", 2},
           {"4,4,2,24", "3,3,6,12", "4,4,2,6", "01bf_01oi->01bf", 2}}) {
    const std::string out = Converted(
        WithGroups(Convolution(c.x, c.w, c.out, "size=3x3 pad=1_1x1_1",
                               c.labels, "bf16"),
                   "feature_group_count", c.groups),
        "convolution-canonicalizer");
    EXPECT_THAT(out, Not(HasSubstr("feature_group_count"))) << c.w;
  }
}

TEST(GroupedFeaturesTest, OfTheGradientOfWeightsEachGroupKeepsItsPart) {
  struct Case {
    const char *x, *w, *out, *labels;
    int groups;
  };
  for (const Case& c : std::vector<Case>{
           {"8,4,4,16", "8,4,4,12", "3,3,4,12", "f01b_i01o->01bf", 4},
           {"8,16,4,4", "8,6,4,4", "6,8,3,3", "fb01_io01->fb01", 2},
           {"3,4,4,20", "3,4,4,4", "3,3,10,4", "f01b_i01o->01bf", 2}}) {
    const std::string out = Converted(
        WithGroups(Convolution(c.x, c.w, c.out, "size=4x4 pad=1_1x1_1",
                               c.labels, "bf16"),
                   "batch_group_count", c.groups),
        "convolution-canonicalizer");
    EXPECT_THAT(out, Not(HasSubstr("batch_group_count"))) << c.w;
  }
}

// As TPU compilers write them: along an axis each meets its own.
TEST(GroupAxisTest, IsGroupsOfFeatures) {
  EXPECT_THAT(
      Converted(Convolution("2,5,4,3,4", "3,3,4,3,2", "2,5,4,3,2",
                            "size=3x3x3 stride=1x1x2 pad=1_1x1_1x0_0 "
                            "lhs_dilate=1x1x3",
                            "b012f_01i2o->b012f", "bf16"),
                "convolution-canonicalizer"),
      AllOf(HasSubstr("feature_group_count=3"), Not(HasSubstr("lhs_dilate"))));
  // The axis lies elsewhere; one other axis.
  EXPECT_THAT(
      Converted(Convolution("2,3,5,8", "2,8,3,3", "2,5,3,2",
                            "size=3x3 stride=2x1 pad=0_0x1_1 "
                            "lhs_dilate=3x1",
                            "b01f_oi01->b10f", "bf16"),
                "convolution-canonicalizer"),
      AllOf(HasSubstr("feature_group_count=3"), Not(HasSubstr("lhs_dilate"))));
}

TEST(GroupAxisTest, OfAGradientIsGroupsOfTheBatch) {
  EXPECT_THAT(
      Converted(Convolution("8,4,5,3,4", "8,4,5,3,2", "3,3,4,3,2",
                            "size=4x5x3 stride=1x1x2 pad=1_1x1_1x0_0 "
                            "lhs_dilate=1x1x3",
                            "f012b_i012o->01b2f", "bf16"),
                "convolution-canonicalizer"),
      AllOf(HasSubstr("batch_group_count=3"), Not(HasSubstr("lhs_dilate"))));
}

TEST(DepthwiseGradientTest, KeepsItsGroups) {
  const auto converted = [](const char* x, const char* dy, const char* out,
                            const char* window, const char* labels,
                            int groups) {
    return Converted(WithGroups(Convolution(x, dy, out, window, labels),
                                "batch_group_count", groups),
                     "convolution-canonicalizer");
  };
  // Borders before and behind, and planes that are cut off; another order; one
  // axis; steps.
  EXPECT_THAT(converted("8,5,4,256", "8,5,4,256", "3,2,1,256",
                        "size=5x4 pad=1_1x1_0", "f01b_i01o->01bf", 256),
              HasSubstr("batch_group_count=256"));
  EXPECT_THAT(converted("8,256,6,5", "8,256,4,4", "256,1,2,2",
                        "size=4x4 pad=-1_0x0_0", "fb01_io01->fb01", 256),
              HasSubstr("01fb_01io->01bf, batch_group_count=256"));
  EXPECT_THAT(
      converted("8,9,512", "8,7,512", "3,1,512", "size=7", "f0b_i0o->0bf", 512),
      HasSubstr("batch_group_count=512"));
  EXPECT_THAT(converted("8,9,512", "8,4,512", "3,1,512", "size=4 rhs_dilate=2",
                        "f0b_i0o->0bf", 512),
              HasSubstr("batch_group_count=512"));
  // Two features a group, a batch of part of a tile.
  EXPECT_THAT(converted("8,5,4,128", "8,5,4,128", "3,3,2,128",
                        "size=5x4 pad=1_1x1_1", "f01b_i01o->01bf", 64),
              Not(HasSubstr("batch_group_count")));
  EXPECT_THAT(converted("4,5,4,128", "4,5,4,128", "3,3,1,128",
                        "size=5x4 pad=1_1x1_1", "f01b_i01o->01bf", 128),
              Not(HasSubstr("batch_group_count")));
}

TEST(PointwiseConvolutionTest, OneTapIsAProduct) {
  EXPECT_THAT(Converted(Convolution("3,2,8,5", "1,1,5,4", "3,2,8,4", "size=1x1",
                                    "01bf_01io->01bf"),
                        "pointwise-convolution"),
              HasSubstr("dot("));
  EXPECT_THAT(Converted(Convolution("3,8,5", "1,4,5", "3,8,4", "size=1",
                                    "0bf_0oi->0bf"),
                        "pointwise-convolution"),
              HasSubstr("dot("));
}

TEST(PointwiseConvolutionTest, SoIsTheGradientOfItsWeights) {
  EXPECT_THAT(Converted(Convolution("3,2,8,5", "3,2,8,4", "1,1,4,5", "size=3x2",
                                    "01fb_01io->01fb"),
                        "pointwise-convolution"),
              HasSubstr("lhs_contracting_dims={0,1,2}"));
}

TEST(PointwiseConvolutionTest, StepsBordersAndRaggedBatchesStay) {
  const auto stays = [](const std::string& text) {
    EXPECT_THAT(Converted(text, "pointwise-convolution"),
                HasSubstr("convolution("));
  };
  stays(Convolution("3,3,8,5", "1,1,5,4", "2,2,8,4", "size=1x1 stride=2x2",
                    "01bf_01io->01bf"));
  stays(Convolution("3,3,8,5", "1,1,5,4", "5,3,8,4", "size=1x1 pad=1_1x0_0",
                    "01bf_01io->01bf"));
  stays(Convolution("3,3,7,5", "1,1,5,4", "3,3,7,4", "size=1x1",
                    "01bf_01io->01bf"));
}

}  // namespace
}  // namespace ptxla::hlo
