// What a user meets first: help, the version, a module through a pipe.
#include <string>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"
#include "tests/tools/add_module.h"

namespace ptxla {
namespace {

using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

TEST(GoodInputTest, HelpAndVersionSucceed) {
  TemporaryFolder folder;
  for (const char* flag : {"--help", "--version"}) {
    const ProcessResult r = RunProcess({PTXLA_SIM, flag}, {"", folder.path()});
    EXPECT_EQ(r.exit_code, 0);
    EXPECT_THAT(r.out, HasSubstr("ptxla-sim"));
    EXPECT_THAT(r.err, IsEmpty());
  }
}

TEST(GoodInputTest, EveryCommandHasHelpWithExamples) {
  TemporaryFolder folder;
  for (const char* command :
       {"run", "inspect", "validate", "chips", "workloads", "ops"}) {
    const ProcessResult r =
        RunProcess({PTXLA_SIM, command, "--help"}, {"", folder.path()});
    EXPECT_EQ(r.exit_code, 0) << command;
    EXPECT_THAT(r.out, HasSubstr("Examples:")) << command;
  }
}

TEST(GoodInputTest, AModuleComesThroughAPipeAndTheRunIsSaved) {
  TemporaryFolder folder;
  const ProcessResult r = RunProcess(
      {PTXLA_SIM, "--hlo", "-", "--topology", "v6e-1"}, {kAdd, folder.path()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("step time"));
  EXPECT_THAT(folder.List(), ElementsAre("ptxla-sim.sqlite"));
}

TEST(GoodInputTest, EstimatedOpsAreMarked) {
  TemporaryFolder folder;
  const std::string hlo = Replaced(
      kAdd, "add(a, b)", "custom-call(a, b), custom_call_target=\"foreign\"");
  const ProcessResult r =
      RunProcess({PTXLA_SIM, "--hlo", "-", "--topology", "v6e-1", "--db",
                  "none", "--unknown-ops", "estimate"},
                 {hlo, folder.path()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("(estimated)"));
  EXPECT_THAT(r.out, HasSubstr("warning: 1 op without a kernel is an "
                               "estimate"));
}

}  // namespace
}  // namespace ptxla
