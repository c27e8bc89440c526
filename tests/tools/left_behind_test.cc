// What runs leave behind, and what they need: the database, the files of an
// installation, nothing after an interrupt.
#include <utility>

#include "absl/strings/str_cat.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "reports/database.h"
#include "tests/support/subprocess.h"

namespace ptxla {
namespace {

using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kNegate[] = R"(HloModule m
ENTRY main {
  a = f32[8,128] parameter(0)
  ROOT c = f32[8,128] negate(a)
}
)";

// What is installed needs nothing of the source tree.
TEST(InstallTest, TheInstalledProgramKnowsItsChipsAndWorkloads) {
  TemporaryFolder folder;
  const std::string prefix = folder.path() + "/usr";
  const ProcessResult installed = RunProcess(
      {PTXLA_CMAKE, "--install", PTXLA_BINARY_DIR, "--prefix", prefix},
      {"", folder.path()});
  ASSERT_EQ(installed.exit_code, 0) << installed.err;
  const ProcessResult r = RunProcess({prefix + "/bin/ptxla-sim", "--workload",
                                      "mlp", "--topology", "v6e-1", "--json"},
                                     {"", folder.path()});
  EXPECT_EQ(r.exit_code, 0) << r.err;
  EXPECT_THAT(r.out, HasSubstr("\"workload\": \"mlp\""));
}

TEST(SavingTest, ProcessesThatShareADatabaseLoseNoRun) {
  TemporaryFolder folder;
  folder.Write("m.hlo", kNegate);
  const ProcessResult r = RunProcess(
      {"/bin/sh", "-c",
       std::string("for i in 1 2 3 4; do ") + PTXLA_SIM +
           " --hlo m.hlo --topology v6e-1 --quiet --db d.sqlite & done; wait"},
      {"", folder.path()});
  EXPECT_EQ(r.err, "");
  auto database = reports::Database::Open(folder.path() + "/d.sqlite");
  ASSERT_TRUE(database.ok());
  auto count = database->connection().Prepare("SELECT count(*) FROM v_run");
  ASSERT_TRUE(count.ok() && count->Step().ok());
  EXPECT_EQ(count->Int(0), 4);
}

TEST(SavingTest, ARunThatDoesNotFitIsPrintedAndStored) {
  TemporaryFolder folder;
  const ProcessResult r =
      RunProcess({PTXLA_SIM, "--workload", "bert_2l", "--topology", "v5e-1",
                  "--batch-per-chip", "4096", "--db", "d.sqlite"},
                 {"", folder.path()});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.out, HasSubstr(" usable (16 nominal): OOM"));
  EXPECT_THAT(r.out, HasSubstr("would fit"));
  EXPECT_THAT(r.err, HasSubstr("Ran out of memory in memory space hbm. Used "));
  auto database = reports::Database::Open(folder.path() + "/d.sqlite");
  ASSERT_TRUE(database.ok());
  const auto run = database->Load("0");  // the only one
  ASSERT_TRUE(run.ok());
  EXPECT_EQ(run->status().code(), "RESOURCE_EXHAUSTED");
  EXPECT_EQ(run->memory().verdict(), "OOM");
}

// What no chip has room for needs no kernel: the numbers of memory are more
// worth than the name of what is missing. Who asks for the bundles is told.
TEST(SavingTest, MemoryDecidesBeforeAKernelThatIsMissing) {
  TemporaryFolder folder;
  folder.Write("m.hlo",
               "HloModule m\nENTRY e { ROOT r = f32[17179869184] "
               "custom-call(), custom_call_target=\"Unknown\" }");
  const ProcessResult r = RunProcess(
      {PTXLA_SIM, "--hlo", "m.hlo", "--topology", "v6e-1", "--db", "none"},
      {"", folder.path()});
  EXPECT_EQ(r.exit_code, 3);
  EXPECT_THAT(r.out, HasSubstr(" usable (32 nominal): OOM"));
  EXPECT_THAT(r.err, HasSubstr("Used 64.00G of 31.25G hbm"));
  const ProcessResult bundles =
      RunProcess({PTXLA_OPT, "--to=tpuasm", "--topology=v6e-1", "m.hlo"},
                 {"", folder.path()});
  EXPECT_EQ(bundles.exit_code, 5);
  EXPECT_THAT(bundles.err, HasSubstr("custom-call"));
}

// Interrupted while it waits for the end of its input.
TEST(InterruptTest, CtrlCIsOneLineAndLeavesNothing) {
  for (const auto& [command, said] : {
           std::pair(PTXLA_SIM " --hlo - --topology v6e-1",
                     "ptxla-sim: interrupted; no run was saved"),
           std::pair(PTXLA_OPT " --to=scheduled -",
                     "ptxla-opt: interrupted; nothing was written"),
       }) {
    TemporaryFolder folder;
    const ProcessResult r = RunProcess(
        {"/bin/sh", "-c",
         absl::StrCat("mkfifo f; (sleep 2 > f) & ", command,
                      " < f & p=$!; sleep 0.3; kill -INT $p; wait $p; "
                      "code=$?; rm f; exit $code")},
        {"", folder.path()});
    EXPECT_EQ(r.exit_code, 130);
    EXPECT_THAT(r.err, HasSubstr(said));
    EXPECT_THAT(folder.List(), IsEmpty());
  }
}

}  // namespace
}  // namespace ptxla
