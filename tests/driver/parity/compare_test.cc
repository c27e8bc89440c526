// One program in two schedules: what is the same, and what the rest costs.
#include "driver/parity/compare.h"

#include <filesystem>

#include "absl/strings/str_cat.h"
#include "chips/topology.h"
#include "driver/stage.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/printer.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::StatusIs;
using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

constexpr char kProgram[] = R"(HloModule m
ENTRY e {
  x = bf16[256,1024] parameter(0)
  w = bf16[1024,512] parameter(1)
  v = bf16[512,1024] parameter(2)
  p = bf16[256,512] dot(x, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  t = bf16[256,512] tanh(p)
  ROOT q = bf16[256,1024] dot(t, v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})";

// Both products in one kernel, which no kernel of ours can be.
constexpr char kScheduled[] = R"(HloModule m, is_scheduled=true
%two {
  %x = bf16[256,1024]{1,0:T(8,128)(2,1)} parameter(0)
  %w = bf16[1024,512]{1,0:T(8,128)(2,1)} parameter(1)
  %v = bf16[512,1024]{1,0:T(8,128)(2,1)} parameter(2)
  %a = f32[256,512]{1,0:T(8,128)} dot(%x, %w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  %t = f32[256,512]{1,0:T(8,128)} tanh(%a)
  %c = bf16[256,512]{1,0:T(8,128)(2,1)} convert(%t)
  ROOT %b = bf16[256,1024]{1,0:T(8,128)(2,1)} dot(%c, %v), lhs_contracting_dims={1}, rhs_contracting_dims={0}
}
ENTRY %e {
  %p = bf16[256,1024]{1,0:T(8,128)(2,1)} parameter(0)
  %q = bf16[1024,512]{1,0:T(8,128)(2,1)} parameter(1)
  %o = bf16[512,1024]{1,0:T(8,128)(2,1)} parameter(2)
  ROOT %both = bf16[256,1024]{1,0:T(8,128)(2,1)} fusion(%p, %q, %o), kind=kOutput, calls=%two, backend_config={"window_config":{"estimated_cycles":"1234"}}
})";

TimedKernel Kernel(const std::string& name, const std::string& root,
                   std::vector<int64_t> operands, int64_t result,
                   int64_t time_ps) {
  TimedKernel k;
  k.facts.name = name;
  k.facts.root = root;
  for (const int64_t n : operands)
    k.facts.operands.push_back({"f32", n, 4 * n});
  k.facts.outputs = {{"f32", result, 4 * result}};
  k.time_ps = time_ps;
  k.executions = k.parts = 1;
  return k;
}

TEST(CompareKernelsTest, OneThatReadsTheSameAndOneThatReadsSomethingElse) {
  TimedSchedule there, here;
  // In another order of operands and of the schedule, and twice here.
  there.kernels = {Kernel("t1", "add", {8, 16, 1}, 16, 50),
                   Kernel("t2", "tanh", {32}, 32, 70),
                   Kernel("t3", "reduce", {64}, 8, 5)};
  there.total_ps = 130;
  there.others_ps["copy-done"] = 2;
  here.kernels = {Kernel("h1", "tanh", {32, 32}, 32, 30),
                  Kernel("h2", "add", {16, 8}, 16, 20),
                  Kernel("h3", "add", {16, 8}, 16, 21)};
  here.total_ps = 71;
  const ScheduleComparison c = CompareKernels(there, here);
  ASSERT_EQ(c.kernels.size(), 4);
  EXPECT_EQ(c.kernels[0].match, Match::kSameResult);
  EXPECT_EQ(c.kernels[0].there.name, "t2");
  EXPECT_EQ(c.kernels[0].CostPs(), 40);
  EXPECT_EQ(c.kernels[1].match, Match::kSame);
  EXPECT_EQ(c.kernels[1].here.name, "h2");
  EXPECT_EQ(c.kernels[1].CostPs(), 30);
  EXPECT_EQ(c.kernels[2].match, Match::kOnlyHere);
  EXPECT_EQ(c.kernels[2].CostPs(), -21);
  EXPECT_EQ(c.kernels[3].match, Match::kOnlyThere);
  // The sums are the total.
  ComparedSum all;
  for (const ComparedSum& s : c.sums) {
    all.there += s.there;
    all.here += s.here;
    all.there_ps += s.there_ps;
    all.here_ps += s.here_ps;
  }
  EXPECT_EQ(all.there, 3);
  EXPECT_EQ(all.here, 3);
  EXPECT_EQ(all.there_ps, 130);
  EXPECT_EQ(all.here_ps, 71);
  EXPECT_EQ(c.sums.back().there_ps, 3);
}

TEST(RankCorrelationTest, TheOrderCountsAndEqualValuesShareTheirRank) {
  EXPECT_NEAR(RankCorrelation({1, 2, 3, 90}, {5, 6, 7, 8}), 1, 1e-12);
  EXPECT_NEAR(RankCorrelation({1, 2, 3}, {3, 2, 1}), -1, 1e-12);
  // Ranks 0, 1.5, 1.5, 3 and 0, 1, 2, 3: 4.5 / sqrt(4.5 * 5).
  EXPECT_NEAR(RankCorrelation({1, 2, 2, 3}, {1, 2, 3, 4}), 0.9486833, 1e-6);
  EXPECT_EQ(RankCorrelation({2, 2}, {1, 2}), 0);
}

class CompareFilesTest : public ::testing::Test {
 protected:
  CompareRequest Request() {
    CompareRequest request;
    request.run.hlo = folder_.Write("m.hlo", kProgram);
    request.run.topology = "v5e-1";
    return request;
  }

  TemporaryFolder folder_;
};

TEST_F(CompareFilesTest, AFusionTakenApartIsOneKernelThatSeveralStandFor) {
  CompareRequest request = Request();
  request.other = folder_.Write("theirs.hlo", kScheduled);
  ASSERT_OK_AND_ASSIGN(const ComparedCompilers c, CompareFiles(request));
  EXPECT_EQ(c.here, "ptxla-sim");
  EXPECT_EQ(c.warning, "");
  EXPECT_EQ(c.kernels.total.there, 1);
  EXPECT_EQ(c.kernels.total.here, 2);
  EXPECT_EQ(c.kernels.there_taken_apart, 1);
  bool found = false;
  for (const ComparedKernels& k : c.kernels.kernels) {
    if (k.there.name != "both") continue;
    found = true;
    EXPECT_EQ(k.there.parts, 2);
    EXPECT_EQ(k.there.time_ps, c.kernels.there_taken_apart_ps);
  }
  EXPECT_TRUE(found);
  const std::string text = ComparisonText(c, 1);
  EXPECT_THAT(text, HasSubstr("both (by 2 kernels)"));
  EXPECT_THAT(text, HasSubstr("1 more (--top 0 shows all)"));
}

// The other compiler is a shell script that knows the schedule, ours.
TEST_F(CompareFilesTest, AScheduleLikeOursCostsNothing) {
  ASSERT_OK_AND_ASSIGN(auto slice, chips::ParseSlice("v5e-1"));
  ASSERT_OK_AND_ASSIGN(auto module, hlo::ParseModule(kProgram, "m.hlo"));
  ASSERT_OK_AND_ASSIGN(
      const hlo::CompiledModule compiled,
      hlo::Compile(std::move(module), slice.chip, slice.topology));
  const std::string scheduled =
      folder_.Write("scheduled.hlo", hlo::Print(*compiled.module));
  CompareRequest request = Request();
  request.run.compiler = "libtpu";
  request.run.compiler_cache = folder_.path() + "/cache";
  request.run.python = folder_.Write(
      "python", absl::StrCat("#!/bin/sh\n[ \"$2\" = versions ] && echo "
                             "'libtpu 1.2, jax 3.4' && exit 0\ncp ",
                             scheduled, " $6\n"));
  std::filesystem::permissions(request.run.python,
                               std::filesystem::perms::owner_all);
  ASSERT_OK_AND_ASSIGN(const ComparedCompilers c, CompareFiles(request));
  EXPECT_EQ(c.there, "libtpu 1.2, jax 3.4");
  EXPECT_GT(c.kernels.total.here_ps, 0);
  EXPECT_EQ(c.kernels.total.CostPs(), 0);
  for (const ComparedKernels& k : c.kernels.kernels) {
    EXPECT_EQ(k.match, Match::kSame);
    EXPECT_EQ(k.CostPs(), 0);
  }
}

TEST_F(CompareFilesTest, ProgramsOfOtherArgumentsAreWarnedOf) {
  CompareRequest request = Request();
  request.other = folder_.Write("other.hlo", R"(HloModule m
ENTRY e {
  x = bf16[256,1024] parameter(0)
  w = bf16[1024,640] parameter(1)
  v = bf16[640,1024] parameter(2)
  ROOT s = bf16[256,1024] negate(x)
})");
  ASSERT_OK_AND_ASSIGN(const ComparedCompilers c, CompareFiles(request));
  EXPECT_EQ(c.warning,
            "not the same program: argument 1 is bf16[1024,640] there, "
            "bf16[1024,512] here");
  EXPECT_THAT(ComparisonText(c, 1), HasSubstr("warning: " + c.warning));
}

TEST_F(CompareFilesTest, WhatCannotBeComparedIsSaid) {
  CompareRequest request = Request();
  EXPECT_THAT(CompareFiles(request).status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("second file or --compiler=libtpu")));
  request.other = "slice:v6e-1";
  EXPECT_THAT(
      CompareFiles(request).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("not slice:v6e-1")));
  // An error names the schedule that it is in.
  request.other =
      folder_.Write("call.hlo",
                    "HloModule c\nENTRY e {\n ROOT r = f32[8] custom-call(), "
                    "custom_call_target=\"Unknown\"\n}");
  EXPECT_THAT(CompareFiles(request).status(),
              StatusIs(absl::StatusCode::kUnimplemented,
                       HasSubstr(absl::StrCat("schedule of ", request.other))));
}

}  // namespace
}  // namespace ptxla::driver
