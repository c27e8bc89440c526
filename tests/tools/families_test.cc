// The programs of tests/data/families/small: what every chip's bundles compute
// is what the evaluator says. What is not lowered is refused by name.
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"

namespace ptxla {
namespace {

namespace fs = std::filesystem;

// Exit code and what was printed.
std::pair<int, std::string> Output(const std::string& command) {
  std::string out;
  FILE* pipe = popen(absl::StrCat(command, " 2>&1").c_str(), "r");
  if (pipe == nullptr) return {-1, ""};
  std::array<char, 4096> buffer;
  for (size_t n; (n = fread(buffer.data(), 1, buffer.size(), pipe)) > 0;) {
    out.append(buffer.data(), n);
  }
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, out};
}

std::vector<std::string> Programs() {
  std::vector<std::string> files;
  const fs::path folder = PTXLA_SOURCE_DIR "/tests/data/families/small";
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.path().extension() == ".hlo") files.push_back(entry.path());
  }
  std::sort(files.begin(), files.end());
  return files;
}

// The sums of this one are zero but for rounding, so that any order of adding
// gives another number.
bool OnlyRounding(const std::string& file) {
  return absl::EndsWith(file, "norm/layer_norm_backward_f32.hlo");
}

TEST(FamiliesTest, BundlesComputeWhatTheEvaluatorSays) {
  constexpr const char* kSlices[] = {"v3:1x1",    "v4:1x1x1", "v5e-1",
                                     "v5p:1x1x1", "v6e-1",    "tpu7x:1x1x1"};
  const std::vector<std::string> files = Programs();
  ASSERT_GE(files.size(), 50);
  int ran = 0, k = 0;
  for (const std::string& file : files) {
    if (OnlyRounding(file)) continue;
    // Each on two of the chips, all chips in turn.
    for (int again = 0; again < 2; ++again) {
      const char* slice = kSlices[(k + 3 * again) % 6];
      const auto [code, text] =
          Output(absl::StrCat(PTXLA_SIM " run --hlo ", file, " --topology ",
                              slice, " --db none --quiet --verify"));
      if (code == 5) {
        EXPECT_TRUE(absl::StrContains(text, "is not lowered")) << text;
        continue;
      }
      EXPECT_EQ(code, 0) << file << " on " << slice << ": " << text;
      ran += code == 0;
    }
    ++k;
  }
  EXPECT_GE(ran, 2 * 45);
}

}  // namespace
}  // namespace ptxla
