// Every kind of bad input: one line that says what, where and what to do; the
// documented exit code; nothing written.
#include <algorithm>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/subprocess.h"
#include "tests/tools/add_module.h"

namespace ptxla {
namespace {

using ::ptxla::testing::ProcessResult;
using ::ptxla::testing::RunProcess;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char kMisspeltChip[] =
    "name: 'v5e' number { key: 'hbm.bandwith' value: 1 unit: 'GB/s' "
    "confidence: ASSUMED "
    "source: 'test' }";

constexpr char kRows[] =
    "id,program,timing,target,cores,residency,kernel,kernel_cfg,time_us\n"
    "A-EW-1,,not_runnable,v4:1x1x1,2,hbm,xla,,1.5\n";

struct BadInput {
  const char* name;
  std::vector<std::string> arguments;
  int exit_code;
  const char* message;
  std::string hlo;  // written to m.hlo if not empty
};

void PrintTo(const BadInput& b, std::ostream* os) { *os << b.name; }

class BadInputTest : public ::testing::TestWithParam<BadInput> {
 protected:
  ProcessResult Run(std::vector<std::string> arguments) {
    arguments.insert(arguments.begin(), PTXLA_SIM);
    return RunProcess(arguments, {"", folder_.path()});
  }
  TemporaryFolder folder_;
};

TEST_P(BadInputTest, IsOneLineWithTheDocumentedExitCode) {
  const BadInput& bad = GetParam();
  folder_.Write("c.textproto", kMisspeltChip);
  if (!bad.hlo.empty()) folder_.Write("m.hlo", bad.hlo);
  const std::vector<std::string> before = folder_.List();
  const ProcessResult r = Run(bad.arguments);
  EXPECT_EQ(r.exit_code, bad.exit_code) << r.err;
  EXPECT_THAT(r.err, HasSubstr(bad.message));
  EXPECT_EQ(std::count(r.err.begin(), r.err.end(), '\n'), 1) << r.err;
  EXPECT_THAT(r.out, IsEmpty());
  EXPECT_EQ(folder_.List(), before) << "something was written";
}

TEST_P(BadInputTest, IsJsonWhenAskedFor) {
  const BadInput& bad = GetParam();
  folder_.Write("c.textproto", kMisspeltChip);
  if (!bad.hlo.empty()) folder_.Write("m.hlo", bad.hlo);
  std::vector<std::string> arguments = bad.arguments;
  arguments.push_back("--json");
  const ProcessResult r = Run(arguments);
  EXPECT_EQ(r.exit_code, bad.exit_code);
  const auto json = nlohmann::json::parse(r.out, nullptr, false);
  ASSERT_FALSE(json.is_discarded()) << r.out;
  EXPECT_EQ(json["schema_version"], 1);
  EXPECT_THAT(json["status"]["message"].get<std::string>(),
              HasSubstr(bad.message));
  EXPECT_NE(json["status"]["where"].get<std::string>(), "");
}

TEST_F(BadInputTest, AValidationHasOneForm) {
  const ProcessResult r =
      Run({"validate", "--kernels", "k.csv", "--markdown", "--json"});
  EXPECT_EQ(r.exit_code, 2);
  EXPECT_THAT(r.out, HasSubstr("--json excludes --markdown"));
}

std::vector<std::string> OnV6e(std::vector<std::string> more = {}) {
  std::vector<std::string> a = {"run", "--hlo", "m.hlo", "--topology", "v6e-1"};
  a.insert(a.end(), more.begin(), more.end());
  return a;
}

INSTANTIATE_TEST_SUITE_P(
    All, BadInputTest,
    ::testing::Values(
        BadInput{"command", {"rnu"}, 2, "did you mean \"run\"?", ""},
        BadInput{"option",
                 {"run", "--fidelty", "tile"},
                 2,
                 "unknown option --fidelty; did you mean --fidelity?",
                 ""},
        BadInput{"workload",
                 {"--workload", "brt", "--topology", "v5e-8"},
                 2,
                 "unknown workload \"brt\"; did you mean \"bert\"?",
                 ""},
        BadInput{
            "workload_field",
            {"--workload", "bert", "--topology", "v5e-8", "--set", "layer=2"},
            2,
            "--set layer=2: unknown field of workload bert \"layer\"; did "
            "you mean \"layers\"?",
            ""},
        BadInput{"global_batch_does_not_divide",
                 {"--workload", "bert", "--topology", "v5e-8", "--global-batch",
                  "7"},
                 2,
                 "a global batch of 7 does not divide among 8 replicas",
                 ""},
        BadInput{"opcode", {"ops", "ad"}, 2, "did you mean \"add\"?", ""},
        BadInput{"bare_batch",
                 {"--workload", "bert", "--topology", "v5e-8", "--batch", "8"},
                 2,
                 "--global-batch N (samples per step over all chips) or "
                 "--batch-per-chip N",
                 ""},
        BadInput{"nothing_to_run",
                 {"run", "--topology", "v5e-8"},
                 2,
                 "give --workload NAME or --hlo FILE",
                 ""},
        BadInput{"timeline_that_is_a_folder", OnV6e({"--trace", "."}), 2,
                 "cannot write .: it is a directory", kAdd},
        BadInput{"timeline_in_no_folder", OnV6e({"--trace", "no/t.json"}), 2,
                 "cannot write no/t.json: no: No such file", kAdd},
        BadInput{"database_without_a_name", OnV6e({"--db", ""}), 2,
                 "--db: must not be empty", kAdd},
        BadInput{"setting_of_a_workload", OnV6e({"--seq", "128"}), 2,
                 "--seq goes with --workload only", kAdd},
        BadInput{"steps_of_a_workload", OnV6e({"--steps", "5"}), 2,
                 "--steps goes with --workload only", kAdd},
        BadInput{"sizes_of_a_workload",
                 {"--workload", "mlp", "--topology", "v6e-1", "--sizes", "8"},
                 2,
                 "--sizes goes with --hlo only",
                 ""},
        BadInput{
            "elided_of_a_workload",
            {"--workload", "mlp", "--topology", "v6e-1", "--elided", "zero"},
            2,
            "--elided goes with --hlo only",
            ""},
        BadInput{
            "trip_count_of_a_workload",
            {"--workload", "mlp", "--topology", "v6e-1", "--trip-count", "3"},
            2,
            "--trip-count goes with --hlo only",
            ""},
        BadInput{
            "sequence_of_images",
            {"--workload", "resnet50", "--topology", "v6e-1", "--seq", "512"},
            2,
            "seq = 512, but samples of resnet50 are no sequences",
            ""},
        BadInput{"batch_said_twice",
                 {"--workload", "mlp", "--topology", "v6e-1", "--set",
                  "batch_per_chip=32", "--batch-per-chip", "64"},
                 2,
                 "--batch-per-chip and --set batch_per_chip=32 exclude",
                 ""},
        BadInput{"python_of_our_compiler", OnV6e({"--python", "python3"}), 2,
                 "--python goes with --compiler=libtpu only", kAdd},
        BadInput{"cache_of_our_compiler",
                 {"--workload", "mlp", "--topology", "v6e-1",
                  "--compiler-cache", "c"},
                 2,
                 "--compiler-cache goes with --compiler=libtpu only",
                 ""},
        BadInput{"python_of_a_schedule",
                 {"compare", "m.hlo", "m.hlo", "--topology", "v6e-1",
                  "--python", "python3"},
                 2,
                 "--python goes with one file only",
                 kAdd},
        BadInput{"part_of_a_file", OnV6e({"--hlo-module", "x"}), 2,
                 "m.hlo: --hlo-module and --hlo-stage choose from a folder",
                 kAdd},
        BadInput{"trip_count", OnV6e({"--trip-count", "0"}), 2,
                 "--trip-count: must be at least 1", kAdd},
        BadInput{"endless_trip_count",
                 OnV6e({"--trip-count", "99999999999999999999"}), 2,
                 "--trip-count: must be below 2^63", kAdd},
        BadInput{"cores", OnV6e({"--cores-per-chip", "0"}), 2,
                 "--cores-per-chip: must be at least 1", kAdd},
        BadInput{"no_op_to_explain", OnV6e({"--explain", ""}), 2,
                 "--explain: must not be empty", kAdd},
        BadInput{"no_topology",
                 {"run", "--hlo", "m.hlo"},
                 2,
                 "--topology is missing",
                 kAdd},
        BadInput{"chip",
                 {"run", "--hlo", "m.hlo", "--topology", "v5f-8"},
                 2,
                 "did you mean",
                 kAdd},
        BadInput{"slice_size",
                 {"run", "--hlo", "m.hlo", "--topology", "v5e-7"},
                 2,
                 "v5e-8",
                 kAdd},
        BadInput{"fidelity", OnV6e({"--fidelity", "cycle"}), 2, "fidelity",
                 kAdd},
        BadInput{"number", OnV6e({"--steps", "many"}), 2, "--steps", kAdd},
        // An instruction is named once: its place, then the reason.
        BadInput{"refused_kernel", OnV6e(), 5,
                 "m.hlo:4:8: %d = custom-call: custom call ",
                 R"(HloModule m
ENTRY main {
  x = f32[500] parameter(0)
  ROOT d = f32[500] custom-call(x), custom_call_target="Foreign"
}
)"},
        BadInput{"missing_file",
                 {"run", "--hlo", "no.hlo", "--topology", "v6e-1"},
                 2,
                 "no.hlo",
                 ""},
        BadInput{"syntax", OnV6e(), 2, "m.hlo:6:1: expected ')'",
                 Replaced(kAdd, "add(a, b)", "add(a, b")},
        BadInput{"mlir_bytecode", OnV6e(), 5, "stablehlo-translate",
                 "ML\xefR\x0dStableHLO_v1.0.0"},
        BadInput{"stablehlo_syntax", OnV6e(), 2, "m.hlo:4:1: expected",
                 "module {\n  func.func @main(%a: tensor<f32>) {\n  }\n"},
        BadInput{"elided_values", OnV6e({"--elided", "one"}), 2,
                 "--elided is error, iota or zero", kAdd},
        BadInput{"explained_op", OnV6e({"--explain", "d"}), 2,
                 "no op \"d\" runs in m; nearest: c", kAdd},
        BadInput{"explained_roofline",
                 OnV6e({"--explain", "c", "--fidelity", "roofline"}), 2,
                 "--explain needs --fidelity kernel or tile", kAdd},
        BadInput{"compiler_table",
                 {"validate", "--compiler", "nowhere.csv"},
                 2,
                 "nowhere.csv",
                 ""},
        BadInput{"missing_operand", OnV6e(), 2,
                 "m.hlo:5:", Replaced(kAdd, "add(a, b)", "add(a, q)")},
        BadInput{"shape_mismatch", OnV6e(), 2, "m.hlo:5:",
                 Replaced(kAdd, "f32[8,128] parameter(1)",
                          "f32[8,64] parameter(1)")},
        BadInput{"unsupported_opcode", OnV6e(), 5, "--unknown-ops=estimate",
                 Replaced(kAdd, "add(a, b)",
                          "custom-call(a, b), custom_call_target=\"foreign\"")},
        BadInput{"unsupported_opcode_place", OnV6e(), 5,
                 "m.hlo:5:8: %c = custom-call: custom call \"foreign\"",
                 Replaced(kAdd, "add(a, b)",
                          "custom-call(a, b), custom_call_target=\"foreign\"")},
        BadInput{"unpartitioned", OnV6e(), 5,
                 "the module is still to be partitioned by its shardings",
                 Replaced(kAdd, "b = f32[8,128] parameter(1)",
                          "p = f32[16,128] parameter(1)\n  b = f32[8,128] "
                          "custom-call(p), custom_call_target="
                          "\"xla.sdy.GlobalToLocalShape\"")},
        BadInput{"database_folder", OnV6e({"--db", "no/such/folder/db.sqlite"}),
                 2, "no/such/folder", kAdd},
        BadInput{"database_is_a_text_file", OnV6e({"--db", "m.hlo"}), 2,
                 "not a database", kAdd},
        BadInput{"chip_file_field", OnV6e({"--chip-file", "m.hlo"}), 2,
                 "m.hlo:1", kAdd},
        BadInput{"chip_field", OnV6e({"--chip-file", "c.textproto"}), 2,
                 "c.textproto:1: unknown number \"hbm.bandwith\"; did you mean "
                 "\"hbm.bandwidth\"?",
                 kAdd},
        BadInput{"chip_file_of_another_chip",
                 OnV6e({"--chip-file", PTXLA_CHIPS "/v5e.chip.textproto"}), 2,
                 "v5e.chip.textproto is of v5e, v6e-1 is a slice of v6e", kAdd},
        BadInput{"gate_without_a_number",
                 {"validate", "--kernels", "m.hlo", "--max-error", "A=nan"},
                 2,
                 "--max-error wants BLOCK=PERCENT, not \"A=nan\"",
                 kRows},
        BadInput{"gate_without_a_block",
                 {"validate", "--kernels", "m.hlo", "--max-error", "FOO=1"},
                 2,
                 "--max-error: no block FOO among the rows: A-EW",
                 kRows},
        BadInput{"gate_without_a_pass",
                 {"validate", "--kernels", "m.hlo", "--disable-passes", "foo"},
                 2,
                 "unknown pass \"foo\"",
                 kRows},
        BadInput{
            "too_few_devices", OnV6e(), 2, "is for 8 devices",
            Replaced(kAdd, "HloModule m", "HloModule m, replica_count=8")}),
    [](const auto& info) { return std::string(info.param.name); });

}  // namespace
}  // namespace ptxla
