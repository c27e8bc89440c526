// Can every field of a workload be changed, and is a mistake explained?
#include "workloads/spec.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::workloads {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using testing::IsOk;
using ::testing::Not;
using testing::StatusIs;

constexpr auto kInvalid = absl::StatusCode::kInvalidArgument;
constexpr auto kNotFound = absl::StatusCode::kNotFound;

WorkloadSpec BertSpec() { return *FindWorkload("bert"); }

TEST(SpecTest, EveryWorkloadIsValidAndSaysWhatItIs) {
  for (const std::string& name : WorkloadNames()) {
    ASSERT_OK_AND_ASSIGN(const WorkloadSpec spec, FindWorkload(name));
    EXPECT_EQ(spec.name(), name);
    EXPECT_FALSE(spec.description().empty()) << name;
    EXPECT_GT(spec.assumptions_size(), 0) << name;
    EXPECT_THAT(CheckSpec(spec), IsOk()) << name;
  }
}

TEST(SpecTest, AnUnknownWorkloadGetsASuggestion) {
  EXPECT_THAT(FindWorkload("brt"),
              StatusIs(kNotFound, HasSubstr("did you mean \"bert\"")));
}

TEST(SpecTest, FieldsAreSetByNameByPathAndByLastPart) {
  WorkloadSpec spec = BertSpec();
  ASSERT_THAT(SetField("dropout=0.25", &spec), IsOk());
  ASSERT_THAT(SetField("bert.hidden=768", &spec), IsOk());
  ASSERT_THAT(SetField("heads=12", &spec), IsOk());
  ASSERT_THAT(SetField("optimizer=sgd", &spec), IsOk());
  EXPECT_EQ(spec.dropout(), 0.25);
  EXPECT_EQ(spec.bert().hidden(), 768);
  EXPECT_EQ(spec.bert().heads(), 12);
  EXPECT_EQ(spec.optimizer(), "sgd");
}

TEST(SpecTest, ListsAreReplaced) {
  ASSERT_OK_AND_ASSIGN(WorkloadSpec spec, FindWorkload("mlp"));
  ASSERT_THAT(SetField("widths=8,4", &spec), IsOk());
  EXPECT_THAT(spec.mlp().widths(), ElementsAre(8, 4));
}

TEST(SpecTest, OneBatchSizeUnsetsTheOther) {
  WorkloadSpec spec = BertSpec();
  ASSERT_THAT(SetField("batch_per_chip=16", &spec), IsOk());
  EXPECT_EQ(spec.global_batch(), 0);
  EXPECT_THAT(CheckSpec(spec), IsOk());
}

TEST(SpecTest, MistakesAreExplained) {
  WorkloadSpec spec = BertSpec();
  EXPECT_THAT(SetField("droput=0.1", &spec),
              StatusIs(kNotFound, HasSubstr("did you mean \"dropout\"")));
  EXPECT_THAT(SetField("widths=1", &spec), StatusIs(kNotFound, HasSubstr("")))
      << "a field of another model";
  EXPECT_THAT(SetField("layers=two", &spec),
              StatusIs(kInvalid, HasSubstr("bert.layers")));
  EXPECT_THAT(SetField("layers", &spec),
              StatusIs(kInvalid, HasSubstr("key=value")));
  EXPECT_THAT(SetField("model=mlp", &spec),
              StatusIs(kInvalid, HasSubstr("--workload")));
}

TEST(SpecTest, ImpossibleSpecsAreRefusedByField) {
  const auto check = [](const char* assignment) {
    WorkloadSpec spec = BertSpec();
    EXPECT_THAT(SetField(assignment, &spec), IsOk());
    return CheckSpec(spec);
  };
  EXPECT_THAT(check("heads=7"), StatusIs(kInvalid, HasSubstr("bert.heads")));
  EXPECT_THAT(check("seq=1024"), StatusIs(kInvalid, HasSubstr("seq")));
  EXPECT_THAT(check("layers=0"), StatusIs(kInvalid, HasSubstr("bert.layers")));
  EXPECT_THAT(check("hidden=100000000000"),
              StatusIs(kInvalid, HasSubstr("at most")));
  EXPECT_THAT(check("layers=100000"),
              StatusIs(kInvalid, HasSubstr("bert.layers")));
  EXPECT_THAT(check("batch_per_chip=16000000"),
              StatusIs(kInvalid, HasSubstr("batch_per_chip")));
  EXPECT_THAT(check("dropout=1"), StatusIs(kInvalid, HasSubstr("dropout")));
  EXPECT_THAT(check("global_batch=0"),
              StatusIs(kInvalid, HasSubstr("global_batch")));
  EXPECT_THAT(check("phase=decode"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("decode")));
  EXPECT_THAT(check("dtype=fp8"),
              StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("fp8")));
  EXPECT_THAT(check("optimizer=adm"), Not(IsOk()));
}

}  // namespace
}  // namespace ptxla::workloads
