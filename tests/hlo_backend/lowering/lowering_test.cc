// Whole programs: real HLO through the passes, the buffer plan and lowering.
#include "hlo_backend/lowering/lowering.h"

#include <gtest/gtest.h>

#include "absl/strings/substitute.h"
#include "chips/topology.h"
#include "hlo_backend/compiler/compiler.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/lowering_cache.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::testing::HasSubstr;

absl::StatusOr<hlo::CompiledModule> Compile(
    absl::string_view text, bool estimate = false,
    std::vector<const isa::Program*> earlier = {},
    LoweringCache* cache = nullptr) {
  ASSIGN_OR_RETURN(auto module, hlo::ParseModule(text));
  ASSIGN_OR_RETURN(const chips::Slice slice, chips::ParseSlice("v6e-1"));
  hlo::CompileOptions options;
  options.pipeline.verify = true;
  options.estimate_unknown_ops = estimate;
  options.earlier = TheseProgramsFirst(std::move(earlier));
  options.cache = cache;
  return hlo::Compile(std::move(module), slice.chip, slice.topology, options);
}

TEST(LoweringTest, EqualLayersShareTheirKernel) {
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule compiled,
                       Compile(R"(HloModule m
ENTRY e {
  a = f32[256,256] parameter(0)
  b = f32[256,256] parameter(1)
  x = f32[256,256] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  y = f32[256,256] dot(x, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  w = f32[256,256] dot(y, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  v = f32[256,256] dot(w, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT z = f32[256,256] dot(v, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
})"));
  EXPECT_EQ(compiled.effort.kernels, 5);
  // Those in the middle; the first and the last have operands or results in
  // HBM.
  EXPECT_LE(compiled.effort.distinct_kernels, 3);
}

TEST(LoweringTest, KernelsOfAnEarlierProgramAreTakenFromThere) {
  constexpr absl::string_view kFirst = R"(HloModule m
ENTRY e {
  a = f32[256,256] parameter(0)
  ROOT x = f32[256,256] exponential(a)
})";
  constexpr absl::string_view kSecond = R"(HloModule n
ENTRY e {
  p = f32[256,256] parameter(0)
  q = f32[256,128] parameter(1)
  y = f32[256,256] exponential(p)
  z = f32[256,128] tanh(q)
  ROOT t = (f32[256,256], f32[256,128]) tuple(y, z)
})";
  ASSERT_OK_AND_ASSIGN(hlo::CompiledModule first, Compile(kFirst));
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule alone, Compile(kSecond));
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule second,
                       Compile(kSecond, false, {&first.program}));
  EXPECT_EQ(second.program, alone.program);
  ASSERT_EQ(first.program.kernels.size(), 1u);
  first.program.kernels[0].note = "seen before";
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule marked,
                       Compile(kSecond, false, {&first.program}));
  int taken = 0;
  for (const isa::Kernel& k : marked.program.kernels) {
    taken += k.note == "seen before";
  }
  EXPECT_EQ(taken, 1);
}

TEST(LoweringTest, KernelsOfAnEarlierRoundAreTakenOnce) {
  constexpr absl::string_view kText = R"(HloModule m
ENTRY e {
  a = f32[256,256] parameter(0)
  ROOT x = f32[256,256] exponential(a)
})";
  ASSERT_OK_AND_ASSIGN(hlo::CompiledModule first, Compile(kText));
  const isa::Program alone = first.program;
  ASSERT_OK_AND_ASSIGN(const chips::Slice slice, chips::ParseSlice("v6e-1"));
  LoweringCache cache(isa::FromChipSpec(slice.chip));
  first.program.kernels[0].note = "seen before";
  cache.Keep(std::move(first.program.kernels));
  ASSERT_OK_AND_ASSIGN(hlo::CompiledModule marked,
                       Compile(kText, false, {}, &cache));
  EXPECT_EQ(marked.program.kernels[0].note, "seen before");
  ASSERT_OK_AND_ASSIGN(hlo::CompiledModule again,
                       Compile(kText, false, {}, &cache));
  EXPECT_EQ(again.program, alone);
}

// As the TPU compiler schedules what leaves a program with its size.
TEST(LoweringTest, AResultOfDynamicSizeIsACopyOfItsData) {
  EXPECT_TRUE(Compile(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[2048]{0:T(1024)} parameter(0)
  n = s32[]{:T(128)} parameter(1)
  ROOT c = f32[<=2048]{0:T(1024)} custom-call(a, n), custom_call_target="SliceToDynamic"
})")
                  .ok());
}

// No pass makes masks of it in a schedule: a sum would take all.
TEST(LoweringTest, ASizeInsideOfAScheduleIsRefused) {
  const auto program = Compile(R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[2048]{0:T(1024)} parameter(0)
  n = s32[]{:T(128)} parameter(1)
  some = f32[<=2048]{0:T(1024)} set-dimension-size(a, n), dimensions={0}
  ROOT b = f32[<=2048]{0:T(1024)} add(some, some)
})");
  EXPECT_THAT(
      program.status(),
      testing::StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("some")));
}

TEST(LoweringTest, AForeignCustomCallIsRefusedByName) {
  const auto program = Compile(R"(HloModule m
ENTRY e {
  a = f32[8,128] parameter(0)
  ROOT c = f32[8,128] custom-call(a), custom_call_target="Foreign"
})");
  EXPECT_THAT(program.status(),
              testing::StatusIs(absl::StatusCode::kUnimplemented,
                                HasSubstr("Foreign")));
}

// Its part is the whole again, whatever way it is taken apart.
TEST(LoweringTest, WhatIsRefusedInEveryPartEnds) {
  const auto program = Compile(R"(HloModule m
ENTRY e {
  c = f8e8m0fnu[] constant(1.5)
  x = f8e8m0fnu[] parameter(0)
  y = f8e8m0fnu[] add(c, x)
  ROOT r = f8e8m0fnu[] exponential-minus-one(y)
})");
  EXPECT_THAT(program.status(),
              testing::StatusIs(absl::StatusCode::kUnimplemented,
                                HasSubstr("f8e8m0fnu")));
}

// In others passes remove them.
TEST(LoweringTest, ArraysWithoutElementsInAScheduledModuleAreRefusedByName) {
  for (const char* root :
       {"add(a, a)",
        "dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}"}) {
    const auto program = Compile(absl::Substitute(
        R"(HloModule m, is_scheduled=true
ENTRY e {
  a = f32[0,128]{1,0:T(8,128)} parameter(0)
  b = f32[128,128]{1,0:T(8,128)} parameter(1)
  ROOT nothing = f32[0,128]{1,0:T(8,128)} $0
})",
        root));
    EXPECT_THAT(program.status(),
                testing::StatusIs(absl::StatusCode::kUnimplemented,
                                  HasSubstr("nothing")))
        << root;
  }
}

TEST(LoweringTest, EstimatesAreNamed) {
  ASSERT_OK_AND_ASSIGN(const hlo::CompiledModule compiled,
                       Compile(R"(HloModule m
ENTRY e {
  a = f32[8,128] parameter(0)
  ROOT c = f32[8,128] custom-call(a), custom_call_target="Foreign"
})",
                               /*estimate=*/true));
  ASSERT_EQ(compiled.program.kernels.size(), 1u);
  EXPECT_THAT(compiled.program.kernels[0].note, HasSubstr("ESTIMATE"));
}

}  // namespace
}  // namespace ptxla::lowering
