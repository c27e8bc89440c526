// Every HLO text that people really have must load, print, and load again.
#include <algorithm>
#include <filesystem>

#include "absl/strings/ascii.h"
#include "absl/strings/match.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/fingerprint.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

// What XLA cannot read either: cut off in the middle.
bool IsTruncated(const std::string& path) {
  for (const char* name : {"maxtext_reference_hlo_qwen3_1.7b.txt",
                           "maxtext_reference_hlo_llama3_8b.txt"}) {
    if (absl::EndsWith(path, name)) return true;
  }
  return false;
}

// Files under `folder` of ../shared that begin like HLO text, by name.
std::vector<std::string> HloFiles(const std::string& folder) {
  std::vector<std::string> files;
  const auto root = ::ptxla::testing::SharedPath(folder);
  if (!root.ok()) return files;
  for (const auto& entry : fs::recursive_directory_iterator(*root)) {
    const std::string path = entry.path().string();
    const bool by_name =
        absl::EndsWith(path, ".hlo") || absl::EndsWith(path, ".txt");
    if (!by_name || IsTruncated(path)) {
      continue;
    }
    const auto text = ReadFile(path);
    // Logs of torch_xla that hold HLO begin with something else.
    if (!text.ok()) continue;
    const absl::string_view body = absl::StripLeadingAsciiWhitespace(*text);
    if (absl::EndsWith(path, ".hlo") || absl::StartsWith(body, "HloModule") ||
        absl::StartsWith(body, "//")) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

void ExpectRoundTrip(const std::string& path) {
  SCOPED_TRACE(path);
  auto module = ParseModuleFile(path);
  ASSERT_OK(module.status());
  EXPECT_OK(VerifyModule(**module));
  const std::string once = Print(**module);
  auto again = ParseModule(once);
  ASSERT_OK(again.status()) << "in what was printed of " << path;
  EXPECT_TRUE(Print(**again) == once) << "printing is not stable";
  EXPECT_EQ(FingerprintOf(**module), FingerprintOf(**again));
}

TEST(CorpusTest, EveryFileLoadsAndRoundTrips) {
  const std::vector<std::string> files = HloFiles("hlo_corpus");
  if (files.empty()) GTEST_SKIP() << "no corpus here";
  EXPECT_GT(files.size(), 120);
  for (const std::string& path : files) ExpectRoundTrip(path);
}

TEST(CorpusTest, MeasuredProgramsLoadAndRoundTrip) {
  const std::vector<std::string> files = HloFiles("measured/programs");
  if (files.empty()) GTEST_SKIP() << "no measured programs here";
  for (size_t i = 0; i < files.size(); i += 7) ExpectRoundTrip(files[i]);
}

}  // namespace
}  // namespace ptxla::hlo
