// The training step that real PyTorch/XLA traced, bundle by bundle on data: the
// cycles of tile. About a minute.
#include "gtest/gtest.h"
#include "tests/properties/compiled_program.h"
#include "tests/support/status_matchers.h"

namespace ptxla::testing {
namespace {

TEST(BundleOfLargePrograms, TakesTheCyclesOfTile) {
  const absl::StatusOr<std::string> text =
      CorpusText("torch_xla_2_9/programs/bert_2l_train.hlo");
  if (!text.ok()) GTEST_SKIP() << "no corpus";
  ASSERT_OK_AND_ASSIGN(const CompiledProgram p, CompileText(*text, "v6e"));
  EXPECT_EQ(Cycles(p, sim::Fidelity::kBundle), Cycles(p, sim::Fidelity::kTile));
}

}  // namespace
}  // namespace ptxla::testing
