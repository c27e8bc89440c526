// Text, proto, text: the same, for every HLO text that people really have.
#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/proto/module_proto.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

TEST(ProtoCorpusTest, TextProtoTextIsTheIdentity) {
  const auto folder = ::ptxla::testing::SharedPath("hlo_corpus");
  if (!folder.ok()) GTEST_SKIP() << folder.status();
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    if (absl::EndsWith(entry.path().string(), ".hlo")) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  EXPECT_GT(files.size(), 120);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    auto module = ParseModuleFile(path);
    ASSERT_OK(module.status());
    auto message = ToProto(**module);
    ASSERT_OK(message.status());
    auto again = FromProto(*message);
    ASSERT_OK(again.status());
    EXPECT_TRUE(Print(**again) == Print(**module)) << "the text differs";
  }
}

}  // namespace
}  // namespace ptxla::hlo
