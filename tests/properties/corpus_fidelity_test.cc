// Real HLO and the BERT step, on every chip that compiles it: kernel within 1 %
// of tile, memo on and off alike; where the bundles are few enough, tile and
// bundle exactly.
#include "driver/prediction.h"
#include "gtest/gtest.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

using sim::Fidelity;

class CorpusFidelity : public ::testing::TestWithParam<std::string> {};

TEST_P(CorpusFidelity, KernelAndMemoAgreeWithTile) {
  const absl::StatusOr<std::string> text = CorpusText(GetParam());
  if (!text.ok()) GTEST_SKIP() << "no corpus";
  int ran = 0;
  for (const std::string& chip : AllChips()) {
    const absl::StatusOr<CompiledProgram> p = CompileText(*text, chip);
    if (absl::IsUnimplemented(p.status())) continue;  // refused by name
    ASSERT_OK(p.status()) << chip;
    ++ran;
    const int64_t tile = Cycles(*p, Fidelity::kTile);
    const int64_t kernel = Cycles(*p, Fidelity::kKernel);
    EXPECT_NEAR(kernel, tile, 0.01 * tile) << chip;
    EXPECT_EQ(Cycles(*p, Fidelity::kKernel, /*memoize=*/false), kernel) << chip;
    EXPECT_EQ(Cycles(*p, Fidelity::kTile, /*memoize=*/false), tile) << chip;
  }
  EXPECT_GE(ran, 5) << "chips that compile it";
}

std::string Stem(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(info.param.rfind('/') + 1);
  return name.substr(0, name.find('.'));
}
INSTANTIATE_TEST_SUITE_P(Files, CorpusFidelity,
                         ::testing::ValuesIn(CorpusFiles()), Stem);

// The same files on data, where that takes a second at most.
TEST(CorpusFidelity, BundleTakesTheCyclesOfTile) {
  for (const char* file :
       {"torch_xla_2_9/programs/mlp_mnist_train.hlo",
        "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo"}) {
    const absl::StatusOr<std::string> text = CorpusText(file);
    if (!text.ok()) GTEST_SKIP() << "no corpus";
    ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(*text, "v6e"));
    EXPECT_EQ(Cycles(p, Fidelity::kBundle), Cycles(p, Fidelity::kTile)) << file;
  }
}

TEST(BertLarge, KernelIsWithinOnePercentOfTile) {
  driver::RunRequest request;
  request.workload = "bert";
  request.topology = "v5e-8";
  request.assumed_effects = false;
  request.steps = 2;  // the second has the steady state's program
  int64_t cycles[2];
  for (int k = 0; k < 2; ++k) {
    request.fidelity = k == 0 ? "kernel" : "tile";
    ASSERT_OK_AND_ASSIGN(const driver::Prediction p, driver::Predict(request));
    cycles[k] = p.traces[p.record.steady_program()].total_cycles();
  }
  EXPECT_NEAR(cycles[0], cycles[1], 0.01 * cycles[1]);
  RecordProperty("kernel", std::to_string(cycles[0]));
  RecordProperty("tile", std::to_string(cycles[1]));
}

TEST(SmallBert, BundleTakesTheCyclesOfTileAndKernelIsNear) {
  ASSERT_OK_AND_ASSIGN(const std::string text, SmallBertText());
  for (const char* chip : {"v6e", "v5p"}) {
    ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(text, chip));
    const int64_t tile = Cycles(p, Fidelity::kTile);
    EXPECT_NEAR(Cycles(p, Fidelity::kKernel), tile, 0.01 * tile) << chip;
    EXPECT_EQ(Cycles(p, Fidelity::kBundle), tile) << chip;
  }
}

}  // namespace
}  // namespace ptxla::testing
