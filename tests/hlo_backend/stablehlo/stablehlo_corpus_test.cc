// Programs of real frameworks: they load, and compute what XLA computes.
#include <algorithm>
#include <cmath>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_replace.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/npz.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

// Our functions and XLA's differ in the last bits; sums in their order.
constexpr double kTolerance = 2e-5;

std::vector<std::string> MlirFiles(const std::string& folder) {
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (absl::EndsWith(path, ".mlir") || absl::EndsWith(path, ".stablehlo")) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

const Literal* Find(const NamedLiterals& named, const std::string& name) {
  for (const auto& [key, literal] : named) {
    if (key == name) return &literal;
  }
  return nullptr;
}

void Flatten(const Literal& value, std::vector<Literal>* out) {
  if (!value.IsTuple()) {
    out->push_back(value);
    return;
  }
  for (const Literal& e : value.elements()) Flatten(e, out);
}

void ExpectNear(const Literal& got, const Literal& want) {
  ASSERT_TRUE(got.shape().SameDimsAndType(want.shape()))
      << got.shape().ToString() << " vs " << want.shape().ToString();
  double scale = 1e-3;
  for (int64_t i = 0; i < want.ElementCount(); ++i) {
    const double w = want.GetDouble(i);
    if (std::isfinite(w)) scale = std::max(scale, std::abs(w));
  }
  for (int64_t i = 0; i < want.ElementCount(); ++i) {
    const double g = got.GetDouble(i), w = want.GetDouble(i);
    if (g == w || (std::isnan(g) && std::isnan(w))) continue;
    EXPECT_LE(std::abs(g - w), kTolerance * scale) << "element " << i;
  }
}

TEST(StableHloCorpusTest, FrameworkProgramsComputeWhatXlaComputes) {
  const std::vector<std::string> files =
      MlirFiles(std::string(PTXLA_SOURCE_DIR) + "/tests/data/frameworks");
  EXPECT_GE(files.size(), 40);
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const auto text = ReadFile(path);
    ASSERT_OK(text.status());
    auto module = ParseStableHlo(*text, path);
    EXPECT_OK(module.status());
    if (!module.ok()) continue;
    EXPECT_OK(VerifyModule(**module));
    const auto named = ReadNpz(absl::StrReplaceAll(path, {{".mlir", ".npz"}}));
    ASSERT_OK(named.status());
    std::vector<Literal> arguments;
    for (int i = 0; i < (*module)->entry()->parameter_count(); ++i) {
      const Literal* argument = Find(*named, absl::StrCat("arg", i));
      ASSERT_NE(argument, nullptr);
      arguments.push_back(*argument);
    }
    const auto result = Evaluate(**module, arguments);
    EXPECT_OK(result.status());
    if (!result.ok()) continue;
    std::vector<Literal> outputs;
    Flatten(*result, &outputs);
    for (size_t i = 0; i < outputs.size(); ++i) {
      SCOPED_TRACE(absl::StrCat("out", i));
      const Literal* want = Find(*named, absl::StrCat("out", i));
      ASSERT_NE(want, nullptr);
      ExpectNear(outputs[i], *want);
    }
    EXPECT_EQ(Find(*named, absl::StrCat("out", outputs.size())), nullptr);
    // As HLO text it is the same program.
    auto again = ParseModule(Print(**module));
    ASSERT_OK(again.status());
    EXPECT_EQ(Print(**again), Print(**module));
  }
}

// What HLO has no word for, by the word of the message.
const char* Refusal(const std::string& path) {
  struct Known {
    const char* file;
    const char* message;
  };
  static constexpr Known kKnown[] = {
      // Shapes that depend on arguments: they have to be refined first.
      {"stablehlo_dynamic_approx_top_k", "stablehlo.dynamic_iota"},
      {"stablehlo_dynamic_rng_bit_generator", "stablehlo.real_dynamic_slice"},
  };
  for (const Known& k : kKnown) {
    if (absl::StrContains(path, k.file)) return k.message;
  }
  return nullptr;
}

TEST(StableHloCorpusTest, EveryFileLoadsOrIsRefusedByName) {
  const auto folder = ::ptxla::testing::SharedPath("hlo_corpus");
  if (!folder.ok()) GTEST_SKIP() << folder.status();
  const std::vector<std::string> files = MlirFiles(*folder);
  int loaded = 0;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const auto text = ReadFile(path);
    ASSERT_OK(text.status());
    auto module = ParseStableHlo(*text, "f");
    if (const char* message = Refusal(path)) {
      EXPECT_FALSE(module.ok());
      EXPECT_THAT(module.status().message(), ::testing::HasSubstr(message));
      continue;
    }
    EXPECT_OK(module.status());
    if (!module.ok()) continue;
    EXPECT_OK(VerifyModule(**module));
    PrintOptions options;
    options.large_constants = false;
    EXPECT_OK(ParseModule(Print(**module, options)).status());
    ++loaded;
  }
  EXPECT_GE(loaded, 30);
}

}  // namespace
}  // namespace ptxla::hlo
