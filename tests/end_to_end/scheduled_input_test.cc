// A module that is scheduled already is taken as it is: what the compiler
// decided, printed and read back, takes the same time to the picosecond.
#include <algorithm>
#include <filesystem>
#include <fstream>

#include "absl/strings/match.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "driver/prediction.h"
#include "tests/support/shared_files.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::SharedPath;
using ::ptxla::testing::TemporaryFolder;
namespace fs = std::filesystem;

std::vector<std::string> Dumped(const std::string& folder,
                                const std::string& ending) {
  std::vector<std::string> files;
  for (const auto& entry : fs::directory_iterator(folder)) {
    if (absl::EndsWith(entry.path().string(), ending)) {
      files.push_back(entry.path().string());
    }
  }
  std::sort(files.begin(), files.end());
  return files;
}

// Runs the request, then each program of it from its dump.
void ExpectSameFromDump(RunRequest request) {
  const TemporaryFolder folder;
  request.dump_to = folder.path() + "/dump";
  request.assumed_effects = false;
  ASSERT_OK_AND_ASSIGN(const Prediction first, Predict(request));
  const std::vector<std::string> scheduled =
      Dumped(request.dump_to, ".scheduled.hlo");
  ASSERT_EQ(static_cast<int>(scheduled.size()), first.record.programs_size());
  for (size_t p = 0; p < scheduled.size(); ++p) {
    SCOPED_TRACE(scheduled[p]);
    RunRequest again;
    again.hlo = scheduled[p];
    again.topology = request.topology;
    again.estimate_unknown_ops = request.estimate_unknown_ops;
    again.assumed_effects = false;
    again.dump_to = folder.path() + "/again";
    ASSERT_OK_AND_ASSIGN(const Prediction second, Predict(again));
    EXPECT_EQ(second.record.device_time_ps(),
              first.record.programs(static_cast<int>(p)).device_time_ps());
    // No pass of ours did anything.
    // The file, the module as it was read, and as it is scheduled.
    EXPECT_EQ(Dumped(again.dump_to, ".hlo").size(), 3u);
    fs::remove_all(again.dump_to);
  }
}

TEST(ScheduledInputTest, StepsOfAModel) {
  for (const char* topology : {"v5e-8", "v6e-1"}) {
    RunRequest request;
    request.workload = "mlp";
    request.topology = topology;
    ExpectSameFromDump(request);
  }
}

TEST(ScheduledInputTest, MeasuredPrograms) {
  int found = 0;
  for (const char* file :
       {"A-GEMM/matmul_f16_256x512x192.hlo", "E-EW/add_chain_bf16_32768.hlo",
        "C-SDPA/sdpa_bf16_b4_h4_kv4_q256_s256_d128.hlo",
        "E-KV/kv_read_bf16_b8_s512.hlo", "F-HBM/copy_bf16_1048576.hlo",
        "I-FFN/ffn2_bf16_16x8192x32768.hlo", "A-EW/add_f16_1120.hlo"}) {
    const auto path = SharedPath(std::string("measured/programs/") + file);
    if (!path.ok()) continue;
    RunRequest request;
    request.hlo = *path;
    ++found;
    for (const char* topology : {"v4-8", "v6e-1"}) {
      request.topology = topology;
      SCOPED_TRACE(request.hlo);
      ExpectSameFromDump(request);
    }
  }
  if (found == 0) GTEST_SKIP() << "no measured programs here";
}

TEST(ScheduledInputTest, ProgramsOfTheCorpus) {
  int found = 0;
  for (const char* file : {"openxla_cpu_bench/layer_norm_1x4096x768_bf16.hlo",
                           "openxla_cpu_bench/mha_block_1x12x128x64_bf16.hlo",
                           "openxla_cpu_bench/mean_axis_1x4096x1024_bf16.hlo",
                           "openxla_small/while_with_known_trip_count.hlo",
                           "openxla_small/must_alias.hlo"}) {
    const auto path = SharedPath(std::string("hlo_corpus/") + file);
    if (!path.ok()) continue;
    RunRequest request;
    request.hlo = *path;
    ++found;
    request.topology = "v6e-8";
    request.estimate_unknown_ops = true;
    SCOPED_TRACE(request.hlo);
    ExpectSameFromDump(request);
  }
  if (found == 0) GTEST_SKIP() << "no corpus here";
}

// Kernels of the loop start where its counter says, which lies in SMEM.
TEST(ScheduledInputTest, LoopsOverPlanes) {
  const TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.Write("scan.hlo", R"(HloModule m
body {
  s = (s32[], f32[4,64,256], f32[4,64,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  x = f32[4,64,256] get-tuple-element(s), index=1
  y = f32[4,64,256] get-tuple-element(s), index=2
  zero = s32[] constant(0)
  one = s32[] constant(1)
  a = f32[1,64,256] dynamic-slice(x, i, zero, zero), dynamic_slice_sizes={1,64,256}
  n = f32[1,64,256] negate(a)
  z = f32[4,64,256] dynamic-update-slice(y, n, i, zero, zero)
  next = s32[] add(i, one)
  ROOT t = (s32[], f32[4,64,256], f32[4,64,256]) tuple(next, x, z)
}
condition {
  s = (s32[], f32[4,64,256], f32[4,64,256]) parameter(0)
  i = s32[] get-tuple-element(s), index=0
  four = s32[] constant(4)
  ROOT l = pred[] compare(i, four), direction=LT
}
ENTRY main {
  x = f32[4,64,256] parameter(0)
  y = f32[4,64,256] parameter(1)
  zero = s32[] constant(0)
  t = (s32[], f32[4,64,256], f32[4,64,256]) tuple(zero, x, y)
  w = (s32[], f32[4,64,256], f32[4,64,256]) while(t), condition=condition, body=body
  ROOT r = f32[4,64,256] get-tuple-element(w), index=2
})");
  for (const char* topology : {"v6e-1", "v4-8"}) {
    request.topology = topology;
    ExpectSameFromDump(request);
  }
}

TEST(ScheduledInputTest, AModuleStillToBePartitionedIsRefused) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-8";
  request.hlo = folder.Write("m.hlo", R"(HloModule m, num_partitions=8
ENTRY main {
  a = f32[512,1024] parameter(0), sharding={devices=[8,1]<=[8]}
  ROOT x = f32[512,1024] negate(a)
})");
  const absl::Status status = Predict(request).status();
  EXPECT_EQ(status.code(), absl::StatusCode::kUnimplemented);
  EXPECT_THAT(std::string(status.message()),
              ::testing::HasSubstr("still to be partitioned"));
}

// The text of JAX's lower() does not say for how many partitions it is: it is
// run whole, and the report says so.
TEST(ScheduledInputTest, ShardingsThatAreNotCarriedOutAreWarnedOf) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-8";
  for (const bool sharded : {true, false}) {
    request.hlo = folder.Write(
        "m.hlo", absl::StrCat("HloModule m\nENTRY main {\n"
                              "  a = f32[512,1024] parameter(0), sharding={",
                              sharded ? "devices=[8,1]<=[8]" : "replicated",
                              "}\n  ROOT x = f32[512,1024] negate(a)\n}\n"));
    ASSERT_OK_AND_ASSIGN(const Prediction prediction, Predict(request));
    const std::string warnings =
        absl::StrJoin(prediction.record.warnings(), "\n");
    EXPECT_EQ(absl::StrContains(
                  warnings, "m has shardings (%a) for 8 devices and is not"),
              sharded)
        << warnings;
  }
}

// Products as the TPU's compiler writes them: convolutions behind fusions of
// bitcasts, prefetched in parts.
TEST(ScheduledInputTest, FormsOfTheTpuCompilerAreDots) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-1";
  request.assumed_effects = false;
  request.hlo = folder.Write("m.hlo", R"(HloModule m, is_scheduled=true

wide {
  p = bf16[1024,512]{1,0:T(8,128)(2,1)} parameter(0)
  ROOT b = bf16[1024,512,1]{1,0,2:T(8,128)(2,1)} bitcast(p)
}
body {
  x = bf16[4,256,1024]{2,1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[1024,512]{1,0:T(8,128)(2,1)S(1)} parameter(1)
  f = bf16[1024,512,1]{1,0,2:T(8,128)(2,1)} fusion(w), kind=kLoop, calls=wide
  ROOT c = bf16[4,256,512]{2,1,0:T(8,128)(2,1)} convolution(x, f), window={size=1}, dim_labels=0bf_io0->0bf
}
ENTRY main {
  x = bf16[4,256,1024]{2,1,0:T(8,128)(2,1)} parameter(0)
  w = bf16[1024,512]{1,0:T(8,128)(2,1)} parameter(1)
  bytes = s8[1048576]{0:T(1024)(128)(4,1)} bitcast(w)
  s0 = ((s8[1048576]{0:T(1024)(128)(4,1)}), s8[524288]{0:T(1024)(128)(4,1)S(1)}, s32[]{:S(2)}) slice-start(bytes), slice={[0:524288]}
  s1 = ((s8[1048576]{0:T(1024)(128)(4,1)}), s8[524288]{0:T(1024)(128)(4,1)S(1)}, s32[]{:S(2)}) slice-start(bytes), slice={[524288:1048576]}
  d0 = s8[524288]{0:T(1024)(128)(4,1)S(1)} slice-done(s0)
  d1 = s8[524288]{0:T(1024)(128)(4,1)S(1)} slice-done(s1)
  v = bf16[1024,512]{1,0:T(8,128)(2,1)S(1)} custom-call(d0, d1), custom_call_target="ConcatBitcast"
  ROOT r = bf16[4,256,512]{2,1,0:T(8,128)(2,1)} fusion(x, v), kind=kOutput, calls=body
})");
  ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request));
  ASSERT_EQ(p.record.programs_size(), 1);
  EXPECT_EQ(p.record.programs(0).matmul_flops(), 2LL * 4 * 256 * 1024 * 512);
  // Both halves are copied, and nothing else is.
  int copies = 0;
  for (const record::OpTrace& op : p.traces[0].op()) {
    copies += op.opcode() == "async-done";
  }
  EXPECT_EQ(copies, 2);
}

}  // namespace
// What another compiler writes and our lowering refuses as one kernel: a
// transposed gradient, contracted over two dimensions, with the optimizer's
// update behind it; a packed mask; a slice under way of whole tiles.
constexpr char kForeign[] = R"(HloModule foreign, is_scheduled=true

%or (a: u8[], b: u8[]) -> u8[] {
  %a = u8[] parameter(0)
  %b = u8[] parameter(1)
  ROOT %r = u8[] or(%a, %b)
}

%update (w: f32[128,256], s: f32[], x: bf16[8,32,128], y: bf16[8,32,256]) -> (f32[128,256], f32[128,256]) {
  %w = f32[128,256]{0,1:T(8,128)} parameter(0)
  %s = f32[]{:T(128)} parameter(1)
  %x = bf16[8,32,128]{2,1,0:T(8,128)(2,1)} parameter(2)
  %y = bf16[8,32,256]{2,1,0:T(8,128)(2,1)} parameter(3)
  %d = f32[256,128]{1,0:T(8,128)} dot(%y, %x), lhs_contracting_dims={0,1}, rhs_contracting_dims={0,1}
  %g = f32[128,256]{0,1:T(8,128)} bitcast(%d)
  %rate = f32[128,256]{0,1:T(8,128)} broadcast(%s), dimensions={}
  %step = f32[128,256]{0,1:T(8,128)} multiply(%g, %rate)
  %new = f32[128,256]{0,1:T(8,128)} subtract(%w, %step)
  ROOT %t = (f32[128,256]{0,1:T(8,128)}, f32[128,256]{0,1:T(8,128)}) tuple(%new, %g)
}

%pack (m: f32[8,32,128]) -> u8[32,128] {
  %m = f32[8,32,128]{2,1,0:T(8,128)} parameter(0)
  %zero = f32[] constant(0.5)
  %limit = f32[8,32,128]{2,1,0:T(8,128)} broadcast(%zero), dimensions={}
  %less = pred[8,32,128]{2,1,0:T(8,128)(4,1)} compare(%m, %limit), direction=LT
  %one = u32[8,32,128]{2,1,0:T(8,128)} convert(%less)
  %at = u32[8,32,128]{2,1,0:T(8,128)} iota(), iota_dimension=0
  %bit = u32[8,32,128]{2,1,0:T(8,128)} shift-left(%one, %at)
  %byte = u8[8,32,128]{2,1,0:T(8,128)(4,1)} convert(%bit)
  %none = u8[] constant(0)
  ROOT %packed = u8[32,128]{1,0:T(8,128)(4,1)} reduce(%byte, %none), dimensions={0}, to_apply=%or
}

ENTRY %main (w: f32[128,256], s: f32[], x: bf16[8,32,128], y: bf16[8,32,256], m: f32[8,32,128], v: f32[100,128]) -> (f32[128,256], f32[128,256], u8[32,128], f32[36,128]) {
  %p0 = f32[128,256]{0,1:T(8,128)} parameter(0)
  %p1 = f32[]{:T(128)} parameter(1)
  %p2 = bf16[8,32,128]{2,1,0:T(8,128)(2,1)} parameter(2)
  %p3 = bf16[8,32,256]{2,1,0:T(8,128)(2,1)} parameter(3)
  %p4 = f32[8,32,128]{2,1,0:T(8,128)} parameter(4)
  %p5 = f32[100,128]{1,0:T(8,128)} parameter(5)
  %slice-start = ((f32[100,128]{1,0:T(8,128)}), f32[36,128]{1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(%p5), slice={[64:100], [0:128]}
  %pair = (f32[128,256]{0,1:T(8,128)}, f32[128,256]{0,1:T(8,128)}) fusion(%p0, %p1, %p2, %p3), kind=kOutput, calls=%update
  %e0 = f32[128,256]{0,1:T(8,128)} get-tuple-element(%pair), index=0
  %e1 = f32[128,256]{0,1:T(8,128)} get-tuple-element(%pair), index=1
  %mask = u8[32,128]{1,0:T(8,128)(4,1)} fusion(%p4), kind=kInput, calls=%pack
  %slice-done = f32[36,128]{1,0:T(8,128)S(1)} slice-done(%slice-start)
  %part = f32[36,128]{1,0:T(8,128)} negate(%slice-done)
  ROOT %all = (f32[128,256]{0,1:T(8,128)}, f32[128,256]{0,1:T(8,128)}, u8[32,128]{1,0:T(8,128)(4,1)}, f32[36,128]{1,0:T(8,128)}) tuple(%e0, %e1, %mask, %part)
}
)";

TEST(ScheduledInputTest, FusionsThatLoweringRefusesAreTakenApart) {
  const TemporaryFolder folder;
  RunRequest request;
  request.hlo = folder.path() + "/foreign.hlo";
  std::ofstream(request.hlo) << kForeign;
  request.assumed_effects = false;
  request.verify = true;
  for (const char* topology : {"v5e-1", "v6e-1"}) {
    SCOPED_TRACE(topology);
    request.topology = topology;
    ASSERT_OK_AND_ASSIGN(const Prediction made, Predict(request));
    bool named = false;
    for (const std::string& warning : made.record.warnings()) {
      named |= absl::StrContains(warning, "2 fusions of the schedule") &&
               absl::StrContains(warning, "pair, mask") &&
               absl::StrContains(warning, "what they hand on stays in VMEM");
    }
    EXPECT_TRUE(named);
  }
}

}  // namespace ptxla::driver
