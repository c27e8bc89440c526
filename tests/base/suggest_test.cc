#include "base/suggest.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

namespace ptxla {
namespace {

TEST(SuggestTest, EditDistanceCountsSingleEdits) {
  EXPECT_EQ(EditDistance("bert", "bert"), 0);
  EXPECT_EQ(EditDistance("brt", "bert"), 1);
  EXPECT_EQ(EditDistance("", "abc"), 3);
  EXPECT_EQ(EditDistance("kitten", "sitting"), 3);
}

TEST(SuggestTest, OnlyANearNameIsSuggested) {
  EXPECT_EQ(NearestName("v5e-9", {"v5e-8", "v4-8"}), "v5e-8");
  EXPECT_EQ(NearestName("mixtral", {"bert", "mlp"}), "");
}

TEST(SuggestTest, AnotherNumberIsNoSlip) {
  EXPECT_EQ(NearestName("v7", {"v2", "v5e", "tpu7x"}), "");
  EXPECT_EQ(NearestName("resnet5", {"resnet18", "resnet50"}), "resnet50");
  EXPECT_EQ(NearestName("bert2", {"bert", "bert_2l"}), "bert");
}

TEST(SuggestTest, OfEquallyNearNamesTheOneThatGoesOnIsSuggested) {
  EXPECT_EQ(NearestName("v5", {"v2", "v3", "v5e", "v5p"}), "v5e");
}

TEST(SuggestTest, TheErrorNamesKindNameAndAlternatives) {
  const absl::Status status = UnknownName("workload", "brt", {"bert", "mlp"});
  EXPECT_EQ(status.code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(std::string(status.message()),
              ::testing::AllOf(::testing::HasSubstr("workload \"brt\""),
                               ::testing::HasSubstr("did you mean \"bert\"?"),
                               ::testing::HasSubstr("mlp")));
}

}  // namespace
}  // namespace ptxla
