// Does what the TPU's bundles compute equal what the evaluator says, for every
// opcode, on arrays whose sizes fit no tile?
#include <map>
#include <set>

#include "absl/strings/str_cat.h"
#include "chips/topology.h"
#include "driver/op_coverage.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/driver/opcodes/opcode_cases.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

constexpr const char* kSlices[] = {"v3:1x1",    "v4:1x1x1", "v5e-1",
                                   "v5p:1x1x1", "v6e-1",    "tpu7x:1x1x1"};

// Each case on two chips of six, all chips in turn.
class OpcodeBundlesTest : public ::testing::TestWithParam<int> {};

TEST_P(OpcodeBundlesTest, GiveTheValuesOfTheEvaluator) {
  const std::vector<OpcodeCase> cases = OpcodeCases();
  for (size_t k = GetParam(); k < cases.size(); k += 6) {
    const OpcodeCase& c = cases[k];
    for (uint64_t seed = 0; seed < 2; ++seed) {
      const char* slice = kSlices[(k + k / 6 + 3 * seed) % 6];
      const std::string what =
          absl::StrCat(c.opcode, " ", c.type, " on ", slice, " seed ", seed);
      auto module = hlo::ParseModule(c.text);
      ASSERT_TRUE(module.ok()) << what << module.status() << "\n" << c.text;
      VerifyOptions options;
      options.arguments = CaseArguments(c, **module, seed);
      const auto v = VerifyModule(*std::move(module), slice, options);
      if (!v.ok()) {
        ADD_FAILURE() << what << ": " << v.status();
        continue;
      }
      EXPECT_TRUE(v->ok()) << what << ": " << v->Line() << "\n" << v->Details();
      EXPECT_TRUE(v->skipped.empty()) << what << ": " << v->skipped.front();
      EXPECT_FALSE(v->outputs.empty()) << what;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(All, OpcodeBundlesTest, ::testing::Range(0, 6));

// Whoever teaches the compiler another opcode says on what its bundles are
// tried.
TEST(OpcodeCasesTest, EveryOpcodeOfAKernelHasOne) {
  std::set<std::string> tried;
  for (const OpcodeCase& c : OpcodeCases()) tried.insert(c.opcode);
  ASSERT_OK_AND_ASSIGN(const std::vector<OpTrial> trials, OpCoverage("v5e"));
  for (const OpTrial& t : trials) {
    if (t.tpu == OpSupport::kKernel) {
      EXPECT_TRUE(tried.count(t.name) > 0)
          << t.name << ": no case in opcode_cases.txt";
    }
  }
}

}  // namespace
}  // namespace ptxla::driver
