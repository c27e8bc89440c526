// Kernels of small arrays in one, stage after stage: bundles against the
// evaluator, on ragged shapes and all chips.
#include <algorithm>
#include <array>
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "isa/from_chip_spec.h"
#include "isa/timing.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

HarnessOptions On(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  return options;
}

// A rotary embedding: its rows are cut, turned, scaled and added. `d` is even.
std::string Rotary(int heads, int rows, int d) {
  return absl::Substitute(R"(HloModule m
scale {
  x = bf16[$0,$1,$2] parameter(0)
  t = bf16[$0,$1,$2] parameter(1)
  c = f32[$1,$2] parameter(2)
  s = f32[$1,$2] parameter(3)
  xf = f32[$0,$1,$2] convert(x)
  tf = f32[$0,$1,$2] convert(t)
  cb = f32[$0,$1,$2] broadcast(c), dimensions={1,2}
  sb = f32[$0,$1,$2] broadcast(s), dimensions={1,2}
  xc = f32[$0,$1,$2] multiply(xf, cb)
  ts = f32[$0,$1,$2] multiply(tf, sb)
  ROOT r = f32[$0,$1,$2] add(xc, ts)
}
stages {
  x = bf16[$0,$1,$2] parameter(0)
  c = f32[$1,$2] parameter(1)
  s = f32[$1,$2] parameter(2)
  low = bf16[$0,$1,$3] slice(x), slice={[0:$0],[0:$1],[0:$3]}
  high = bf16[$0,$1,$3] slice(x), slice={[0:$0],[0:$1],[$3:$2]}
  minus = bf16[$0,$1,$3] negate(high)
  turned = bf16[$0,$1,$2] concatenate(minus, low), dimensions={2}
  ROOT r = f32[$0,$1,$2] fusion(x, turned, c, s), kind=kLoop, calls=scale
}
ENTRY e {
  x = bf16[$0,$1,$2] parameter(0)
  c = f32[$1,$2] parameter(1)
  s = f32[$1,$2] parameter(2)
  ROOT f = f32[$0,$1,$2] fusion(x, c, s), kind=kCustom, calls=stages, backend_config="stages"
})",
                          heads, rows, d, d / 2);
}

TEST(StagedFusionTest, ARotaryEmbeddingInOneKernelEqualsTheEvaluator) {
  for (const char* chip : kAllChips) {
    for (const auto& [heads, rows, d] : std::vector<std::array<int, 3>>{
             {2, 16, 32}, {3, 13, 20}, {1, 9, 130}}) {
      SCOPED_TRACE(absl::StrCat(chip, ", ", heads, " x ", rows, " x ", d));
      EXPECT_OK(CompareKernel(Rotary(heads, rows, d), On(chip)).status());
    }
  }
}

TEST(StagedFusionTest, OperandsAndResultsInVmemStayThere) {
  HarnessOptions options = On("v5e");
  for (const std::vector<int>& in_vmem :
       std::vector<std::vector<int>>{{0}, {3}, {0, 1, 2, 3}}) {
    options.in_vmem = in_vmem;
    EXPECT_OK(CompareKernel(Rotary(3, 13, 20), options).status());
  }
}

TEST(StagedFusionTest, TwoStagesThatReadABlockShareItsSlot) {
  ASSERT_OK_AND_ASSIGN(const HarnessResult r, CompareKernel(R"(HloModule m
stages {
  x = f32[24,300] parameter(0)
  e = f32[24,300] exponential(x)
  n = f32[24,300] negate(x)
  ROOT t = (f32[24,300], f32[24,300]) tuple(e, n)
}
ENTRY e {
  x = f32[24,300] parameter(0)
  f = (f32[24,300], f32[24,300]) fusion(x), kind=kCustom, calls=stages, backend_config="stages"
  a = f32[24,300] get-tuple-element(f), index=0
  b = f32[24,300] get-tuple-element(f), index=1
  ROOT r = (f32[24,300], f32[24,300]) tuple(a, b)
})",
                                                            On("v5e")));
  EXPECT_EQ(r.kernel.windows.size(), 3) << "one of x, two of results";
}

TEST(StagedFusionTest, TheStartHasADescriptorForEachCopiedWindow) {
  for (const std::vector<int>& in_vmem :
       std::vector<std::vector<int>>{{}, {0}, {0, 1, 2}}) {
    int64_t cycles[2];
    int64_t copied = 0;
    for (const int dearer : {0, 1}) {
      ASSERT_OK_AND_ASSIGN(chips::ChipSpec spec, chips::ChipSpec::Load("v6e"));
      ASSERT_OK_AND_ASSIGN(
          spec, spec.WithValue("policy.entry_window", dearer ? 17 : 10));
      HarnessOptions options;
      options.spec = &spec;
      options.in_vmem = in_vmem;
      ASSERT_OK_AND_ASSIGN(const isa::Kernel kernel,
                           KernelOf(Rotary(2, 16, 32), options));
      cycles[dearer] = isa::TimeKernel(kernel, isa::FromChipSpec(spec))
                           .UnstalledCycles(kernel);
      copied = std::count_if(
          kernel.windows.begin(), kernel.windows.end(),
          [&](const isa::Window& w) { return !isa::IsResident(kernel, w); });
    }
    ASSERT_GE(copied, 1);
    EXPECT_EQ(cycles[1] - cycles[0], copied * 7) << in_vmem.size();
  }
}

// A result that a later stage reads, too.
std::string ReadAgain(int rows, int columns) {
  return absl::Substitute(R"(HloModule m
stages {
  x = f32[$0,$1] parameter(0)
  e = f32[$0,$1] exponential(x)
  n = f32[$0,$1] reverse(e), dimensions={0}
  ROOT t = (f32[$0,$1], f32[$0,$1]) tuple(e, n)
}
ENTRY e {
  x = f32[$0,$1] parameter(0)
  f = (f32[$0,$1], f32[$0,$1]) fusion(x), kind=kCustom, calls=stages, backend_config="stages"
  a = f32[$0,$1] get-tuple-element(f), index=0
  b = f32[$0,$1] get-tuple-element(f), index=1
  ROOT r = (f32[$0,$1], f32[$0,$1]) tuple(a, b)
})",
                          rows, columns);
}

TEST(StagedFusionTest, AResultThatIsReadInsideLeavesFromItsPlace) {
  for (const char* chip : kAllChips) {
    SCOPED_TRACE(chip);
    EXPECT_OK(CompareKernel(ReadAgain(8, 128), On(chip)).status());
    EXPECT_OK(CompareKernel(ReadAgain(11, 37), On(chip)).status());
    HarnessOptions in_vmem = On(chip);
    in_vmem.in_vmem = {1};
    EXPECT_OK(CompareKernel(ReadAgain(11, 37), in_vmem).status());
  }
}

// What a transposes' transfers fetch is made by the stage before.
std::string Turned(int rows, int columns) {
  return absl::Substitute(R"(HloModule m
sum { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT s = f32[] add(x, y) }
stages {
  x = f32[$0,$1] parameter(0)
  e = f32[$0,$1] negate(x)
  t = f32[$1,$0] transpose(e), dimensions={1,0}
  p = f32[] constant(3)
  w = f32[$1,$2] pad(t, p), padding=0_0x1_2
  z = f32[] constant(0)
  ROOT r = f32[$1] reduce(w, z), dimensions={1}, to_apply=sum
}
ENTRY e {
  x = f32[$0,$1] parameter(0)
  ROOT f = f32[$1] fusion(x), kind=kCustom, calls=stages, backend_config="stages"
})",
                          rows, columns, rows + 3);
}

TEST(StagedFusionTest, TransposesPadsAndReducesAreStages) {
  for (const char* chip : kAllChips) {
    for (const auto& [rows, columns] :
         std::vector<std::pair<int, int>>{{16, 128}, {13, 70}, {200, 5}}) {
      SCOPED_TRACE(absl::StrCat(chip, ", ", rows, " x ", columns));
      HarnessOptions options = On(chip);
      options.absolute = 1e-3;
      EXPECT_OK(CompareKernel(Turned(rows, columns), options).status());
    }
  }
}

TEST(StagedFusionTest, ADynamicSliceOfAnOperandIsAStage) {
  for (const char* chip : {"v4", "v5e", "v6e"}) {
    SCOPED_TRACE(chip);
    HarnessOptions options = On(chip);
    options.low = 0;
    options.high = 2;
    EXPECT_OK(CompareKernel(R"(HloModule m
stages {
  x = f32[3,19,70] parameter(0)
  i = s32[] parameter(1)
  z = s32[] parameter(2)
  y = f32[19,70] parameter(3)
  d = f32[1,19,70] dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,19,70}
  b = f32[19,70] bitcast(d)
  ROOT r = f32[19,70] add(b, y)
}
ENTRY e {
  x = f32[3,19,70] parameter(0)
  i = s32[] parameter(1)
  z = s32[] parameter(2)
  y = f32[19,70] parameter(3)
  ROOT f = f32[19,70] fusion(x, i, z, y), kind=kCustom, calls=stages, backend_config="stages"
})",
                            options)
                  .status());
  }
}

TEST(StagedFusionTest, ArraysOfSeveralStepsAreRefused) {
  const auto result = CompareKernel(R"(HloModule m
stages {
  x = f32[8192,1024] parameter(0)
  n = f32[8192,1024] negate(x)
  ROOT r = f32[8192,1024] exponential(n)
}
ENTRY e {
  x = f32[8192,1024] parameter(0)
  ROOT f = f32[8192,1024] fusion(x), kind=kCustom, calls=stages, backend_config="stages"
})",
                                    On("v5e"));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kResourceExhausted);
}

// A stage has no steps; a line in VMEM, which needs none, would take longer
// than a kernel of its own.
TEST(StagedFusionTest, AReshapeThatStepsTakeFasterIsNoStage) {
  constexpr char kReshape[] = R"(HloModule m
stages {
  x = f32[32,4096] parameter(0)
  n = f32[32,4096] negate(x)
  ROOT r = f32[32,128,32] reshape(n)
}
ENTRY e {
  x = f32[32,4096] parameter(0)
  ROOT f = f32[32,128,32] fusion(x), kind=kCustom, calls=stages, backend_config="stages"
})";
  EXPECT_EQ(CompareKernel(kReshape, On("v6e")).status().code(),
            absl::StatusCode::kResourceExhausted);
}

TEST(StagedFusionTest, ASortIsNoStage) {
  const auto result = CompareKernel(R"(HloModule m
less { x = f32[] parameter(0)
 y = f32[] parameter(1)
 ROOT l = pred[] compare(x, y), direction=LT }
stages {
  x = f32[8,128] parameter(0)
  n = f32[8,128] negate(x)
  ROOT r = f32[8,128] sort(n), dimensions={1}, to_apply=less
}
ENTRY e {
  x = f32[8,128] parameter(0)
  ROOT f = f32[8,128] fusion(x), kind=kCustom, calls=stages, backend_config="stages"
})",
                                    On("v5e"));
  EXPECT_EQ(result.status().code(), absl::StatusCode::kUnimplemented);
}

}  // namespace
}  // namespace ptxla::lowering
