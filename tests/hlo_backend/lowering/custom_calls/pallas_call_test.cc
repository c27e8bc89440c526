// Does a Pallas kernel take the time that its blocks and its body ask for?
#include "hlo_backend/lowering/custom_calls/pallas_call.h"

#include <string>
#include <vector>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/lowering/custom_calls/step_walker.h"
#include "hlo_backend/lowering/kernel_emitter.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using ::ptxla::testing::kPallasCases;
using ::ptxla::testing::ReadPallasCase;
using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

constexpr int64_t kMiB = 1 << 20;

class PallasCallTest : public ::testing::Test {
 protected:
  static PallasTime Time(const std::string& name, const std::string& chip,
                         const std::vector<const hlo::Shape*>& arrays = {}) {
    auto kernel = ReadPallasCase(name);
    EXPECT_OK(kernel.status());
    auto spec = chips::ChipSpec::Load(chip);
    EXPECT_OK(spec.status());
    const isa::MachineModel model = isa::FromChipSpec(*spec);
    codegen::BlockCache cache(model);
    auto time = TimeOf({*spec, model, &cache}, *kernel, arrays, /*results=*/1);
    EXPECT_OK(time.status());
    return time.ok() ? *time : PallasTime();
  }
};

// 4 x 2 x 4 steps. The left block moves every step (512 KiB), the right one
// too (1 MiB), the result's every fourth (1 MiB).
TEST_F(PallasCallTest, EveryBlockThatMovesIsCopied) {
  const PallasTime t = Time("product_512", "v6e");
  EXPECT_EQ(t.steps, 32);
  EXPECT_EQ(t.hbm_bytes, 32 * kMiB / 2 + 32 * kMiB + 8 * kMiB);
}

// A condition on the grid index leaves out what lies above the diagonal: 6 of
// the 16 blocks of each head.
TEST_F(PallasCallTest, AConditionOnTheGridIndexSkipsWork) {
  ASSERT_OK_AND_ASSIGN(const mosaic::PallasKernel kernel,
                       ReadPallasCase("attention_causal"));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  const isa::MachineModel model = isa::FromChipSpec(chip);
  StepWalker walker(kernel, model);
  int skipped = 0;
  for (int64_t i = 0; i < 4; ++i) {
    for (int64_t j = 0; j < 4; ++j) {
      ASSERT_OK_AND_ASSIGN(const StepTime step, walker.At({0, i, j}));
      EXPECT_FALSE(step.assumed);
      const bool above = j > i;
      skipped += above;
      if (above) {
        EXPECT_LT(step.bundles, 500);
      } else {
        EXPECT_GT(step.bundles, 1000);
      }
    }
  }
  EXPECT_EQ(skipped, 6);
}

// 16 pieces of a loop inside of one step.
TEST_F(PallasCallTest, LoopsRunAsOftenAsTheirBoundsSay) {
  ASSERT_OK_AND_ASSIGN(const mosaic::PallasKernel kernel,
                       ReadPallasCase("tanh_in_pieces"));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  const isa::MachineModel model = isa::FromChipSpec(chip);
  StepWalker walker(kernel, model);
  ASSERT_OK_AND_ASSIGN(const StepTime step, walker.At({}));
  ASSERT_OK_AND_ASSIGN(const int64_t once, walker.CodeBundles());
  EXPECT_GE(step.bundles, 15 * once);
  EXPECT_LE(step.bundles, 16 * once);
}

// 2 x 11 x 2 steps: rows and weights move with each, the result's block when
// the table names other rows, not with each step of the sum.
TEST_F(PallasCallTest, BlocksThatATableNamesStayWhileItsEntryDoes) {
  const hlo::Shape x =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kBf16, {1024, 512});
  const hlo::Shape w =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kBf16, {4, 512, 512});
  const PallasTime t = Time("grouped_product", "v6e", {&x, &w, &x});
  EXPECT_EQ(t.steps, 44);
  EXPECT_EQ(t.hbm_bytes, 44 * (kMiB / 16 + kMiB / 8) + 16 * kMiB / 16);
  EXPECT_THAT(t.taken, ::testing::Contains("a grid bound of 11"));
}

TEST_F(PallasCallTest, WhatLiesInVmemIsNotCopied) {
  const hlo::Shape hbm =
      hlo::Shape::ArrayRowMajor(hlo::PrimitiveType::kBf16, {2048, 2048});
  hlo::Shape vmem = hbm;
  vmem.mutable_layout()->memory_space = hlo::kMemoryVmem;
  const PallasTime all = Time("product_512", "v6e", {&hbm, &hbm, &hbm});
  const PallasTime some = Time("product_512", "v6e", {&hbm, &vmem, &hbm});
  EXPECT_EQ(all.hbm_bytes - some.hbm_bytes, 32 * kMiB);
  EXPECT_LE(some.cycles, all.cycles);
}

// As kernels of ours do (policy.step_sync).
TEST_F(PallasCallTest, StepsOfProductsAloneWaitForFlags) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec loaded,
                       chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec without,
                       loaded.WithValue("policy.step_sync", 0));
  const isa::MachineModel model = isa::FromChipSpec(loaded);
  codegen::BlockCache cache(model);
  const auto saved = [&](const char* name) {
    const mosaic::PallasKernel kernel = *ReadPallasCase(name);
    return TimeOf({loaded, model, &cache}, kernel, {}, 1)->cycles -
           TimeOf({without, model, &cache}, kernel, {}, 1)->cycles;
  };
  EXPECT_EQ(saved("pick_rows"), 0);
  EXPECT_GT(saved("product_512"), 0);
}

TEST_F(PallasCallTest, ArraysSumUpDepthsWhereTheChipsCompilerLetsThem) {
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec sums,
                       chips::ChipSpec::Load("tpu7x"));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec apart,
                       sums.WithValue("policy.pallas_sums_in_arrays", 0));
  const isa::MachineModel model = isa::FromChipSpec(sums);
  codegen::BlockCache cache(model);
  const mosaic::PallasKernel kernel = *ReadPallasCase("product_512");
  EXPECT_LT(TimeOf({sums, model, &cache}, kernel, {}, 1)->cycles,
            TimeOf({apart, model, &cache}, kernel, {}, 1)->cycles);
}

TEST_F(PallasCallTest, AnXluThatChangesItsModeTakesTheChipsTime) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec loaded,
                         chips::ChipSpec::Load(chip));
    ASSERT_OK_AND_ASSIGN(
        const chips::ChipSpec to_permute,
        loaded.WithValue("interval.xlu_reduce_to_permute", 300));
    ASSERT_OK_AND_ASSIGN(
        const chips::ChipSpec to_reduce,
        loaded.WithValue("interval.xlu_permute_to_reduce", 300));
    const isa::MachineModel model = isa::FromChipSpec(loaded);
    codegen::BlockCache cache(model);
    const mosaic::PallasKernel kernel = *ReadPallasCase("attention_causal");
    const int64_t cycles =
        TimeOf({loaded, model, &cache}, kernel, {}, 1)->cycles;
    EXPECT_GT(TimeOf({to_permute, model, &cache}, kernel, {}, 1)->cycles,
              cycles)
        << chip;
    EXPECT_GT(TimeOf({to_reduce, model, &cache}, kernel, {}, 1)->cycles, cycles)
        << chip;
  }
}

// Both cores of a v5p share the first parallel dimension.
TEST_F(PallasCallTest, CoresShareAParallelDimension) {
  const PallasTime t = Time("attention_full", "v5p");
  EXPECT_EQ(t.cores, 2);
  EXPECT_EQ(t.steps, 8 / 2 * 8 * 2);
  const PallasTime serial = Time("pick_rows", "v5p");
  EXPECT_EQ(serial.cores, 1);
}

TEST_F(PallasCallTest, NoStepIsFasterThanTheMemoryOrTheArrays) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    ASSERT_OK_AND_ASSIGN(const chips::ChipSpec spec,
                         chips::ChipSpec::Load(chip));
    for (const char* name : kPallasCases) {
      const PallasTime t = Time(name, chip);
      const Picoseconds time = spec.core().clock.ToTime(Cycles(t.cycles));
      EXPECT_GE(time, Bytes(t.hbm_bytes) / spec.hbm().bandwidth)
          << name << " on " << chip;
    }
    const PallasTime product = Time("product_512", chip);
    EXPECT_GE(spec.core().clock.ToTime(Cycles(product.cycles)).count() *
                  product.cores,
              (Flops(2.0 * 2048 * 2048 * 2048) /
               spec.PeakMatmul(chips::MatmulType::kBf16))
                  .count())
        << chip;
  }
}

TEST_F(PallasCallTest, TheKernelIsMarkedAsAnEstimate) {
  ASSERT_OK_AND_ASSIGN(
      const auto module,
      hlo::ParseModuleFile(::ptxla::testing::PallasCasePath("rms_norm")));
  ASSERT_OK_AND_ASSIGN(const chips::ChipSpec chip,
                       chips::ChipSpec::Load("v6e"));
  const isa::MachineModel model = isa::FromChipSpec(chip);
  codegen::BlockCache cache(model);
  ASSERT_OK_AND_ASSIGN(
      const isa::Kernel kernel,
      EmitKernel({chip, model, &cache}, *module->entry()->root()));
  EXPECT_TRUE(IsEstimate(kernel));
  EXPECT_THAT(kernel.note, HasSubstr("Mosaic kernel rms_norm, grid 16, "));
  module->entry()->root()->set_backend_config("{}");
  EXPECT_THAT(
      EmitKernel({chip, model, &cache}, *module->entry()->root()).status(),
      StatusIs(absl::StatusCode::kUnimplemented,
               HasSubstr("carries no kernel")));
}

}  // namespace
}  // namespace ptxla::lowering
