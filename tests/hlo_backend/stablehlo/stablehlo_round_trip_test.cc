// HLO to StableHLO and back: the same values, and the same text again.
#include <algorithm>
#include <filesystem>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/evaluator/npz.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/stablehlo/stablehlo.h"
#include "hlo_backend/stablehlo/stablehlo_writer.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

namespace fs = std::filesystem;

const Literal* FindNamed(const NamedLiterals& named, const std::string& name) {
  for (const auto& [key, literal] : named) {
    if (key == name) return &literal;
  }
  return nullptr;
}

void FlattenLiteral(const Literal& value, std::vector<Literal>* out) {
  if (!value.IsTuple()) {
    out->push_back(value);
    return;
  }
  for (const Literal& e : value.elements()) FlattenLiteral(e, out);
}

// nullptr where the module has no form in StableHLO.
std::unique_ptr<Module> RoundTrip(const Module& module, int* refused) {
  const auto text = WriteStableHlo(module);
  if (!text.ok()) {
    EXPECT_EQ(text.status().code(), absl::StatusCode::kUnimplemented)
        << text.status();
    ++*refused;
    return nullptr;
  }
  auto again = ParseStableHlo(*text);
  EXPECT_OK(again.status());
  if (!again.ok()) return nullptr;
  EXPECT_OK(VerifyModule(**again));
  const auto second = WriteStableHlo(**again);
  EXPECT_OK(second.status());
  EXPECT_TRUE(second.ok() && *second == *text);
  return *std::move(again);
}

void ExpectSameValues(const Module& module, const NamedLiterals& named,
                      const std::string& prefix, int* refused) {
  std::vector<Literal> arguments;
  for (int i = 0; i < module.entry()->parameter_count(); ++i) {
    const Literal* argument = FindNamed(named, absl::StrCat(prefix, "arg", i));
    if (argument == nullptr) {  // one for each device
      RoundTrip(module, refused);
      return;
    }
    arguments.push_back(*argument);
  }
  const std::unique_ptr<Module> again = RoundTrip(module, refused);
  if (again == nullptr) return;
  const auto want = Evaluate(module, arguments);
  ASSERT_OK(want.status());
  const auto got = Evaluate(*again, arguments);
  ASSERT_OK(got.status());
  std::vector<Literal> wants, gots;
  FlattenLiteral(*want, &wants);
  FlattenLiteral(*got, &gots);
  ASSERT_EQ(gots.size(), wants.size());
  for (size_t i = 0; i < wants.size(); ++i) {
    EXPECT_TRUE(gots[i] == wants[i]) << "output " << i;
  }
}

TEST(StableHloRoundTripTest, FrameworkProgramsComputeTheSame) {
  const std::string folder =
      std::string(PTXLA_SOURCE_DIR) + "/tests/data/frameworks";
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string path = entry.path().string();
    if (absl::EndsWith(path, ".mlir") || absl::EndsWith(path, ".hlo")) {
      files.push_back(path);
    }
  }
  std::sort(files.begin(), files.end());
  EXPECT_GE(files.size(), 80);
  int refused = 0;
  for (const std::string& path : files) {
    SCOPED_TRACE(path);
    const auto text = ReadFile(path);
    ASSERT_OK(text.status());
    const auto module = absl::EndsWith(path, ".hlo")
                            ? ParseModule(*text)
                            : ParseStableHlo(*text, path);
    ASSERT_OK(module.status());
    const std::string values = path.substr(0, path.rfind('.')) + ".npz";
    const auto named = ReadNpz(values);
    if (!named.ok()) continue;
    ExpectSameValues(**module, *named, "", &refused);
  }
  // Instructions without a form in StableHLO: scan, scaled-dot.
  EXPECT_LE(refused, 12);
}

TEST(StableHloRoundTripTest, ModulesOfEveryOpcodeComputeTheSame) {
  const std::string folder =
      std::string(PTXLA_SOURCE_DIR) + "/tests/data/frameworks/";
  const auto text = ReadFile(folder + "hlo_cases.txt");
  const auto named = ReadNpz(folder + "hlo_cases.npz");
  ASSERT_OK(text.status());
  ASSERT_OK(named.status());
  int refused = 0, cases = 0;
  for (absl::string_view part : absl::StrSplit(*text, "// case ")) {
    const size_t line = part.find('\n');
    if (line == absl::string_view::npos) continue;
    const std::string name(part.substr(0, part.find(' ')));
    SCOPED_TRACE(name);
    const auto module = ParseModule(part.substr(line + 1));
    ASSERT_OK(module.status());
    // Tuples among the arguments are other arguments in StableHLO.
    bool flat = true;
    for (const Instruction* p : (*module)->entry()->parameters()) {
      flat &= !p->shape().IsTuple();
    }
    if (!flat) continue;
    ExpectSameValues(**module, *named, name + "/", &refused);
    ++cases;
  }
  EXPECT_GE(cases, 500);
  // scan, scaled-dot, sparse products ...
  EXPECT_LE(refused, 30);
}

TEST(StableHloRoundTripTest, CorpusFilesGiveTheSameTextAgain) {
  const auto folder = ::ptxla::testing::SharedPath("hlo_corpus");
  if (!folder.ok()) GTEST_SKIP() << folder.status();
  int refused = 0, files = 0;
  for (const auto& entry : fs::recursive_directory_iterator(*folder)) {
    const std::string path = entry.path().string();
    // Larger ones take seconds.
    if (!absl::EndsWith(path, ".hlo") || entry.file_size() > 300000) continue;
    SCOPED_TRACE(path);
    const auto text = ReadFile(path);
    ASSERT_OK(text.status());
    const auto module = ParseModule(*text);
    if (!module.ok() || !VerifyModule(**module).ok()) continue;
    RoundTrip(**module, &refused);
    ++files;
  }
  EXPECT_GE(files, 100);
  EXPECT_LE(refused, 2);
}

}  // namespace
}  // namespace ptxla::hlo
