// Every program that was measured: text, proto and StableHLO, there and back.
#include <algorithm>
#include <filesystem>
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/proto/module_proto.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

std::vector<std::string> MeasuredPrograms() {
  std::vector<std::string> files;
  const auto folder = ::ptxla::testing::SharedPath("measured/programs");
  if (!folder.ok()) return files;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    if (absl::EndsWith(entry.path().string(), ".hlo")) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void ExpectSameText(const Module& module) {
  const std::string once = Print(module);
  auto again = ParseModule(once);
  ASSERT_OK(again.status());
  EXPECT_TRUE(Print(**again) == once) << "printing is not stable";
  EXPECT_EQ(FingerprintOf(module), FingerprintOf(**again));
  auto message = ToProto(module);
  ASSERT_OK(message.status());
  auto through = FromProto(*message);
  ASSERT_OK(through.status());
  EXPECT_TRUE(Print(**through) == once) << "the proto's text differs";
}

// Empty, or why the module has no form in StableHLO.
std::string StableHloAndBack(const Module& module) {
  const auto text = WriteStableHlo(module);
  if (!text.ok()) return std::string(text.status().message());
  auto again = ParseStableHlo(*text);
  EXPECT_OK(again.status());
  if (!again.ok()) return "";
  EXPECT_OK(VerifyModule(**again));
  const auto second = WriteStableHlo(**again);
  EXPECT_OK(second.status());
  EXPECT_TRUE(second.ok() && *second == *text) << "StableHLO differs";
  return "";
}

TEST(MeasuredProgramsTest, EachIsTheSameThroughTextProtoAndStableHlo) {
  const std::vector<std::string> files = MeasuredPrograms();
  if (files.empty()) GTEST_SKIP() << "no measured programs here";
  EXPECT_GT(files.size(), 1400);
  std::map<std::string, std::string> without_form;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    auto module = ParseModuleFile(path);
    ASSERT_OK(module.status());
    ASSERT_OK(VerifyModule(**module));
    ExpectSameText(**module);
    const std::string why = StableHloAndBack(**module);
    if (!why.empty()) without_form[path] = why;
  }
  EXPECT_THAT(without_form, ::testing::IsEmpty());
}

}  // namespace
}  // namespace ptxla::hlo
