// inspect says before a run what the run will do.
#include "driver/inspect.h"

#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

Inspection Inspected(const std::string& path,
                     const InspectOptions& options = {}) {
  const auto chip = chips::ChipSpec::Load("v6e");
  EXPECT_OK(chip.status());
  auto inspection = Inspect(path, *chip, options);
  EXPECT_OK(inspection.status());
  return inspection.ok() ? *std::move(inspection) : Inspection();
}

const InspectedOp& Row(const Inspection& i, const std::string& opcode) {
  for (const InspectedOp& row : i.rows) {
    if (row.opcode == opcode) return row;
  }
  ADD_FAILURE() << "no " << opcode;
  return i.total;
}

constexpr char kLoop[] = R"(HloModule m
body {
  s = (s32[], bf16[512,512], bf16[512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = bf16[512,512] get-tuple-element(s), index=1
  w = bf16[512,512] get-tuple-element(s), index=2
  one = s32[] constant(1)
  n = s32[] add(i, one)
  y = bf16[512,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}, metadata={op_name="net/layer/dot" source_file="/a/b/net.py" source_line=7}
  ROOT t = (s32[], bf16[512,512], bf16[512,512]) tuple(n, y, w)
}
cond {
  s = (s32[], bf16[512,512], bf16[512,512]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  ten = s32[] constant(10)
  ROOT r = pred[] compare(i, ten), direction=LT
}
ENTRY main {
  z = s32[] constant(0)
  x = bf16[512,512] parameter(0)
  w = bf16[512,512] parameter(1)
  s = (s32[], bf16[512,512], bf16[512,512]) tuple(z, x, w)
  l = (s32[], bf16[512,512], bf16[512,512]) while(s), condition=cond, body=body
  ROOT r = bf16[512,512] get-tuple-element(l), index=1
}
)";

TEST(InspectTest, BodiesOfLoopsCountAsOftenAsTheyRun) {
  const TemporaryFolder folder;
  const Inspection i = Inspected(folder.Write("loop.hlo", kLoop));
  const double flops = 2.0 * 512 * 512 * 512;
  EXPECT_EQ(Row(i, "dot").count, 1);
  EXPECT_EQ(Row(i, "dot").flops, 10 * flops);
  EXPECT_EQ(Row(i, "dot").kernels, 1);
  EXPECT_EQ(i.rows[0].opcode, "dot");
  ASSERT_FALSE(i.instructions.empty());
  EXPECT_EQ(i.instructions[0].name, "y");
  EXPECT_EQ(i.instructions[0].times, 10);
  EXPECT_EQ(i.instructions[0].layer, "net/layer/dot");
  EXPECT_EQ(i.instructions[0].source, "net.py:7");
  EXPECT_EQ(i.instructions[0].line, 9);
  // As XLA counts.
  InspectOptions like_xla;
  like_xla.like_xla = true;
  EXPECT_EQ(Row(Inspected(folder.path() + "/loop.hlo", like_xla), "dot").flops,
            flops);
}

// What it says of a module is what becomes of the run.
TEST(InspectTest, CoverageAgreesWithRun) {
  struct {
    const char* body;
    bool runs;
    const char* reason;
  } cases[] = {
      {"a = f32[64,128] parameter(0) ROOT r = f32[64,128] add(a, a)", true, ""},
      {"a = f32[64,128] parameter(0) b = f32[64,128] negate(a) ROOT r = "
       "f32[64,128] custom-call(b), custom_call_target=\"Foreign\"",
       false, "custom call \"Foreign\" is not lowered"},
      {"a = f32[64,128] parameter(0) ROOT r = f32[64,128] custom-call(a), "
       "custom_call_target=\"Sharding\", sharding={replicated}",
       true, ""},
      {"a = f32[64,128] parameter(0) c = f32[64,128] constant({...}) ROOT r = "
       "f32[64,128] add(a, c)",
       true, ""},
  };
  const TemporaryFolder folder;
  for (const auto& c : cases) {
    SCOPED_TRACE(c.body);
    const std::string path = folder.Write(
        "m.hlo", absl::StrCat("HloModule m\nENTRY e { ", c.body, " }"));
    const Inspection i = Inspected(path);
    EXPECT_EQ(i.slice, "v6e");
    EXPECT_TRUE(i.blocked.empty()) << i.blocked;
    EXPECT_EQ(i.refused.empty(), c.runs);
    if (!i.refused.empty()) {
      EXPECT_EQ(i.refused[0].reason, c.reason);
      EXPECT_EQ(i.refused[0].instruction, "r");
      EXPECT_EQ(i.refused[0].line, 2);
      EXPECT_EQ(Row(i, "custom-call").refused, 1);
      EXPECT_EQ(Row(i, "custom-call").target, "Foreign");
    }
    RunRequest request;
    request.hlo = path;
    request.topology = "v6e-1";
    request.assumed_effects = false;
    const auto run = Predict(request);
    EXPECT_EQ(run.ok(), c.runs) << run.status();
    if (!run.ok()) {
      EXPECT_THAT(std::string(run.status().message()), HasSubstr(c.reason));
    }
    // And with the options that it names, it runs.
    request.estimate_unknown_ops = true;
    EXPECT_OK(Predict(request).status());
  }
}

TEST(InspectTest, ValuesThatTheTextLeavesOutAreCountedAndWarnedOf) {
  const TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("m.hlo", R"(HloModule m
ENTRY e {
  a = f32[64,128] parameter(0)
  c = f32[64,128] constant({...})
  ROOT r = f32[64,128] add(a, c)
})");
  request.topology = "v6e-1";
  request.assumed_effects = false;
  EXPECT_EQ(Inspected(request.hlo).elided_constants, 1);
  const auto run = Predict(request);
  ASSERT_OK(run.status());
  EXPECT_THAT(run->record.warnings(),
              ::testing::Contains(HasSubstr("taken as 0, 1, 2")));
  request.elided = "error";
  EXPECT_THAT(std::string(Predict(request).status().message()),
              HasSubstr("elided"));
}

TEST(InspectTest, ShardingsThatAreNotCarriedOutAreWarnedOf) {
  const TemporaryFolder folder;
  const std::string path = folder.Write("m.hlo", R"(HloModule m
ENTRY main {
  a = f32[512,1024] parameter(0), sharding={devices=[8,1]<=[8]}
  ROOT x = f32[512,1024] negate(a)
})");
  EXPECT_THAT(Inspected(path).warnings,
              ::testing::ElementsAre(HasSubstr("is not partitioned")));
}

TEST(InspectTest, WhatStopsARunWhateverTheOptionsIsSaid) {
  const TemporaryFolder folder;
  const std::string path =
      folder.Write("m.hlo", R"(HloModule m, num_partitions=8
ENTRY main {
  a = f32[512,1024] parameter(0), sharding={devices=[8,1]<=[8]}
  ROOT x = f32[512,1024] negate(a)
})");
  const Inspection i = Inspected(path);
  EXPECT_EQ(i.slice, "v6e-8");
  EXPECT_THAT(i.blocked, HasSubstr("m.hlo:3:3"));
  EXPECT_THAT(i.blocked, HasSubstr("still to be partitioned"));
}

}  // namespace
}  // namespace ptxla::driver
