// What a person who edits a chip file is told.
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::chips {
namespace {

using ::testing::HasSubstr;

// The unit chip with one replacement.
std::string ErrorAfter(const std::string& from, const std::string& to) {
  const std::string text = ChipSpec::Load("unit")->ToText();
  EXPECT_THAT(text, HasSubstr(from));
  const std::string changed = absl::StrReplaceAll(text, {{from, to}});
  absl::StatusOr<ChipSpec> chip = ChipSpec::Parse(changed, "my.chip.textproto");
  EXPECT_FALSE(chip.ok());
  EXPECT_EQ(chip.status().code(), absl::StatusCode::kInvalidArgument);
  return std::string(chip.status().message());
}

TEST(ChipErrors, AnUnknownNumberNamesTheLineAndTheNearest) {
  const std::string error = ErrorAfter("\"clock.core\"", "\"clock.cores\"");
  EXPECT_THAT(error, HasSubstr("my.chip.textproto:3"));
  EXPECT_THAT(error, HasSubstr("clock.cores"));
  EXPECT_THAT(error, HasSubstr("did you mean \"clock.core\"?"));
}

TEST(ChipErrors, AnUnknownFieldNamesTheLine) {
  EXPECT_THAT(ErrorAfter("title:", "titel:"), HasSubstr("my.chip.textproto:"));
}

TEST(ChipErrors, AMissingUnitIsAnError) {
  const std::string error = ErrorAfter("  unit: \"MHz\"\n", "");
  EXPECT_THAT(error, HasSubstr("my.chip.textproto:3"));
  EXPECT_THAT(error, HasSubstr("\"clock.core\": no unit"));
  EXPECT_THAT(error, HasSubstr("GHz"));
}

TEST(ChipErrors, AUnitOfAnotherDimensionIsAnError) {
  const std::string error = ErrorAfter("unit: \"MHz\"", "unit: \"GiB\"");
  EXPECT_THAT(error, HasSubstr("unit \"GiB\" does not fit"));
}

TEST(ChipErrors, AMissingSourceIsAnError) {
  EXPECT_THAT(
      ErrorAfter("unit: \"MHz\"\n  source: \"by definition\"", "unit: \"MHz\""),
      HasSubstr("\"clock.core\" has no source"));
}

TEST(ChipErrors, AMissingConfidenceIsAnError) {
  const std::string text = ErrorAfter(
      "unit: \"MHz\"\n  source: \"by definition\"\n  confidence: PUBLISHED",
      "unit: \"MHz\"\n  source: \"by definition\"");
  EXPECT_THAT(text, HasSubstr("\"clock.core\" has no confidence"));
}

TEST(ChipErrors, AMissingNumberIsNamedWithItsMeaning) {
  const std::string text = ChipSpec::Load("unit")->ToText();
  const size_t at = text.find("number {\n  key: \"hbm.bandwidth\"");
  ASSERT_NE(at, std::string::npos);
  std::string changed = text;
  changed.erase(at, text.find("}\n", at) + 2 - at);
  absl::StatusOr<ChipSpec> chip = ChipSpec::Parse(changed, "my");
  ASSERT_FALSE(chip.ok());
  EXPECT_THAT(chip.status().message(),
              HasSubstr("\"hbm.bandwidth\" is missing"));
}

TEST(ChipErrors, ANumberGivenTwiceNamesBothLines) {
  const std::string text = ChipSpec::Load("unit")->ToText();
  const std::string again =
      "number { key: \"clock.core\" value: 1 unit: \"GHz\" source: \"me\" "
      "confidence: ASSUMED }\n";
  absl::StatusOr<ChipSpec> chip = ChipSpec::Parse(text + again, "my");
  ASSERT_FALSE(chip.ok());
  EXPECT_THAT(chip.status().message(),
              HasSubstr("given twice, first on line 3"));
}

TEST(ChipErrors, MoreBanksThanABundleIsCheckedForAreRefused) {
  absl::StatusOr<ChipSpec> chip = ChipSpec::Load("v6e");
  ASSERT_TRUE(chip.ok()) << chip.status();
  EXPECT_THAT(chip->WithValue("vmem.banks", 64).status().message(),
              HasSubstr("more than 32 KiB"));
  absl::StatusOr<ChipSpec> without = chip->WithValue("vmem.banks", 0);
  ASSERT_TRUE(without.ok()) << without.status();
  EXPECT_EQ(without->vmem().banks, 0);
}

TEST(ChipErrors, AZeroClockIsRefused) {
  EXPECT_THAT(ErrorAfter("value: 1000\n  unit: \"MHz\"", "unit: \"MHz\""),
              HasSubstr("\"clock.core\" must be positive"));
}

// Far beyond what any chip has, arithmetic would not hold.
TEST(ChipErrors, NumbersThatNoChipHasAreRefused) {
  const ptxla::testing::TemporaryFolder folder;
  const struct {
    const char *key, *number, *message;
  } cases[] = {
      {"clock.core", "value: 1e-9 unit: 'MHz'", "but 1 MHz to 100 GHz"},
      {"hbm.latency", "value: 1e12 unit: 'us'", "but at most 1 s"},
      {"hbm.bandwidth", "value: 1e9 unit: 'GB/s'", "but 1e-3 to 1e6 GB/s"},
      {"kernel.entry", "value: 1e9 unit: 'cycles'", "but at most 1e6 cycles"},
      {"slot.valu", "value: 1e6 unit: 'per bundle'", "but at most 65536"},
  };
  for (const auto& c : cases) {
    std::string text = ChipSpec::Load("v5e")->ToText();
    const size_t key = text.find(absl::StrCat("key: \"", c.key, "\""));
    ASSERT_NE(key, std::string::npos) << c.key;
    const size_t from = text.find("value:", key);
    text.replace(from, text.find("source", key) - from,
                 absl::StrCat(c.number, "\n"));
    const std::string path = folder.Write("my.chip.textproto", text);
    EXPECT_THAT(std::string(ChipSpec::LoadFile(path).status().message()),
                HasSubstr(c.message))
        << c.key;
  }
}

// Kernels are written for registers and arrays of these sizes.
TEST(ChipErrors, OtherRegistersAndArraysAreRefused) {
  absl::StatusOr<ChipSpec> chip = ChipSpec::Load("v5e");
  ASSERT_TRUE(chip.ok()) << chip.status();
  EXPECT_THAT(chip->WithValue("vreg.lanes", 100).status().message(),
              HasSubstr("must be 128 and 8"));
  EXPECT_THAT(chip->WithValue("mxu.rows", 64).status().message(),
              HasSubstr("must be both 128 or both 256"));
  EXPECT_THAT(chip->WithValue("mxu.count", 1000).status().message(),
              HasSubstr("must be at most 16"));
}

TEST(ChipErrors, AFractionAboveOneIsRefused) {
  EXPECT_THAT(ErrorAfter("key: \"hbm.core_share\"\n  value: 1",
                         "key: \"hbm.core_share\"\n  value: 1.5"),
              HasSubstr("must be at most 1"));
}

// Policies have no list of their own: what no built-in file has, no code reads.
TEST(ChipErrors, AMisspeltPolicyOfAFileSuggestsTheNearest) {
  const ptxla::testing::TemporaryFolder folder;
  const std::string text =
      absl::StrReplaceAll(ChipSpec::Load("v5e")->ToText(),
                          {{"\"policy.step_sync\"", "\"policy.step_synk\""}});
  const std::string path = folder.Write("my.chip.textproto", text);
  const absl::Status status = ChipSpec::LoadFile(path).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kInvalidArgument);
  EXPECT_THAT(std::string(status.message()),
              HasSubstr("unknown number \"policy.step_synk\"; did you mean "
                        "\"policy.step_sync\"?"));
}

TEST(ChipErrors, AMisspeltPolicyInTheSourceEndsTheProgram) {
  const ChipSpec chip = *ChipSpec::Load("v5e");
  EXPECT_DEATH(chip.Policy("step_synk"), "no chip has policy.step_synk");
  EXPECT_DEATH(CompilerPolicy("reshape_gian"), "no policy reshape_gian");
}

TEST(ChipErrors, AnUnknownChipSuggestsTheNearest) {
  absl::StatusOr<ChipSpec> chip = ChipSpec::Load("v6");
  ASSERT_FALSE(chip.ok());
  EXPECT_EQ(chip.status().code(), absl::StatusCode::kNotFound);
  EXPECT_THAT(chip.status().message(), HasSubstr("did you mean"));
}

}  // namespace
}  // namespace ptxla::chips
