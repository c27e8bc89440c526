// The same input gives the same bytes: JSON, database rows and timeline of two
// processes are equal outside of what names the run and measures the tool, with
// one processor and with all of them.
#include <sched.h>

#include <set>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "gtest/gtest.h"
#include "reports/sqlite.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::testing {
namespace {

constexpr char kModule[] = R"(HloModule layer
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT r = f32[] add(x, y)
}
ENTRY main {
  x = bf16[512,1024] parameter(0)
  w = bf16[1024,768] parameter(1)
  y = bf16[512,768] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  f = f32[512,768] convert(y)
  z = f32[] constant(0)
  s = f32[512] reduce(f, z), dimensions={1}, to_apply=add
  b = f32[512,768] broadcast(s), dimensions={0}
  d = f32[512,768] subtract(f, b)
  ROOT t = f32[512,768] tanh(d)
}
)";

struct Outputs {
  std::string json, rows, timeline;
};

// What differs between two runs of the same: who ran when, and how fast.
bool NamesTheRun(absl::string_view column) {
  static const std::set<absl::string_view> kColumns = {
      "run_id", "started_unix_ms", "applied_unix_ms", "wall_ms"};
  return kColumns.count(column) > 0 ||
         absl::string_view(column).substr(0, 5) == "tool_";
}

// Every row of every table as text, in the order of the rest of its columns.
std::string RowsOf(const std::string& path) {
  auto db = reports::sqlite::Connection::Open(path);
  EXPECT_OK(db.status());
  std::string text;
  std::vector<std::string> tables;
  auto names = *db->Prepare(
      "SELECT name FROM sqlite_schema WHERE type = 'table' ORDER BY name");
  while (*names.Step()) tables.push_back(names.Text(0));
  for (const std::string& table : tables) {
    std::vector<std::string> columns;
    auto info = *db->Prepare(
        absl::StrCat("SELECT name FROM pragma_table_info('", table, "')"));
    while (*info.Step()) {
      if (!NamesTheRun(info.Text(0))) columns.push_back(info.Text(0));
    }
    if (columns.empty()) continue;
    const std::string list = absl::StrJoin(columns, ", ");
    auto rows = *db->Prepare(
        absl::StrCat("SELECT ", list, " FROM ", table, " ORDER BY ", list));
    while (*rows.Step()) {
      absl::StrAppend(&text, table);
      for (size_t c = 0; c < columns.size(); ++c) {
        absl::StrAppend(&text, "\t", rows.Text(static_cast<int>(c)));
      }
      absl::StrAppend(&text, "\n");
    }
  }
  return text;
}

// Without the lines that name the run and the object "tool".
std::string WithoutTool(const std::string& json) {
  std::string text;
  bool inside = false;
  for (absl::string_view line : absl::StrSplit(json, '\n')) {
    if (line.substr(0, 9) == "  \"tool\":") inside = true;
    if (!inside && line.find("\"run_id\"") == line.npos) {
      absl::StrAppend(&text, line, "\n");
    }
    if (inside && line.substr(0, 3) == "  }") inside = false;
  }
  return text;
}

// `processors`: as words that go before the command.
Outputs RunOnce(const std::vector<std::string>& processors,
                const std::vector<std::string>& what) {
  TemporaryFolder folder;
  folder.Write("m.hlo", kModule);
  std::vector<std::string> command = processors;
  command.insert(command.end(), {PTXLA_SIM, "run", "--json", "--db", "runs.db",
                                 "--trace", "trace.json"});
  command.insert(command.end(), what.begin(), what.end());
  ProcessOptions options;
  options.folder = folder.path();
  const ProcessResult r = RunProcess(command, options);
  EXPECT_EQ(r.exit_code, 0) << r.err;
  Outputs o;
  o.json = WithoutTool(r.out);
  o.rows = RowsOf(folder.path() + "/runs.db");
  auto timeline = ReadFile(folder.path() + "/trace.json");
  EXPECT_OK(timeline.status());
  if (timeline.ok()) o.timeline = *timeline;
  return o;
}

class Determinism : public ::testing::TestWithParam<std::vector<std::string>> {
};

TEST_P(Determinism, TwoRunsGiveTheSameBytesOnAnyNumberOfProcessors) {
  const Outputs all = RunOnce({}, GetParam());
  EXPECT_GT(all.json.size(), 1000u);
  EXPECT_GT(all.rows.size(), 1000u);
  EXPECT_GT(all.timeline.size(), 1000u);
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
  int first = 0;
  while (!CPU_ISSET(first, &allowed)) ++first;
  const Outputs one = RunOnce(
      {"/usr/bin/env", "taskset", "-c", std::to_string(first)}, GetParam());
  EXPECT_EQ(all.json, one.json);
  EXPECT_EQ(all.rows, one.rows);
  EXPECT_TRUE(all.timeline == one.timeline) << "the timelines differ";
}

INSTANTIATE_TEST_SUITE_P(
    Runs, Determinism,
    ::testing::Values(
        std::vector<std::string>{"--hlo", "m.hlo", "--topology", "v6e-1"},
        std::vector<std::string>{"--hlo", "m.hlo", "--topology", "v5p:1x1x1",
                                 "--fidelity", "tile"},
        std::vector<std::string>{"--workload", "mlp", "--topology", "v5e-8"}));

}  // namespace
}  // namespace ptxla::testing
