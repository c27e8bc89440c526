// The chain from outside: what --dump-to writes, ptxla-opt reads, and every
// stretch of it gives what the run gave.
#include <map>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"

namespace ptxla {
namespace {

using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;

std::string StageOfFile(const std::string& name) {
  if (absl::EndsWith(name, ".lazy")) return "lazy";
  if (absl::EndsWith(name, ".scheduled.hlo")) return "scheduled";
  if (absl::EndsWith(name, ".hlo")) return "hlo";
  if (absl::EndsWith(name, ".tpuasm")) return "tpuasm";
  return "trace";
}

class StagesTest : public ::testing::Test {
 protected:
  StagesTest() {
    const ProcessResult run = RunProcess(
        {PTXLA_SIM, "--workload", "mlp", "--topology", "v6e-1", "--db", "none",
         "--quiet", "--steps", "1", "--dump-to", folder_.path() + "/stages"},
        {"", folder_.path()});
    EXPECT_EQ(run.exit_code, 0) << run.err;
    const ProcessResult list =
        RunProcess({"/bin/ls", folder_.path() + "/stages"}, {"", "/"});
    for (absl::string_view name :
         absl::StrSplit(list.out, '\n', absl::SkipEmpty())) {
      files_.push_back(std::string(name));
    }
  }

  std::string Text(const std::string& name) const {
    return ReadFile(folder_.path() + "/stages/" + name).value();
  }

  // The file that ends so; there is one graph, so one of each.
  std::string Ending(absl::string_view ending) const {
    for (const std::string& file : files_) {
      if (absl::EndsWith(file, ending)) return file;
    }
    ADD_FAILURE() << "nothing ends in " << ending;
    return "";
  }

  std::string Opt(const std::string& from, const std::string& to,
                  const std::string& file) const {
    const ProcessResult r =
        RunProcess({PTXLA_OPT, "--topology", "v6e-1", "--from", from, "--to",
                    to, folder_.path() + "/stages/" + file},
                   {"", folder_.path()});
    EXPECT_EQ(r.exit_code, 0) << file << ": " << r.err;
    return r.out;
  }

  TemporaryFolder folder_;
  std::vector<std::string> files_;
};

TEST_F(StagesTest, EveryDumpedValueIsReadAndPrintedAsItWas) {
  std::map<std::string, int> seen;
  for (const std::string& file : files_) {
    const std::string stage = StageOfFile(file);
    ++seen[stage];
    EXPECT_EQ(Opt(stage, stage, file), Text(file)) << file;
  }
  EXPECT_EQ(seen.size(), 5) << "lazy, hlo, scheduled, tpuasm, trace";
}

TEST_F(StagesTest, NeighbouringStagesGiveWhatTheRunGave) {
  EXPECT_EQ(Opt("lazy", "hlo", Ending(".lazy")), Text(Ending(".traced.hlo")));
  EXPECT_EQ(Opt("scheduled", "tpuasm", Ending(".scheduled.hlo")),
            Text(Ending(".tpuasm")));
  // These print more than the dump: callees that nobody calls any more, and
  // every transfer.
  EXPECT_THAT(Opt("hlo", "scheduled", Ending(".traced.hlo")),
              ::testing::HasSubstr("is_scheduled=true"));
  EXPECT_THAT(Opt("tpuasm", "trace", Ending(".tpuasm")),
              ::testing::HasSubstr("total_ps:"));
}

}  // namespace
}  // namespace ptxla
