// Which file of an --xla_dump_to folder is used.
#include "driver/dump_folder.h"

#include "driver/hlo_input.h"
#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/input/elided_values.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;

constexpr char kPlain[] = "ENTRY e { ROOT p = f32[8,128] parameter(0) }";
constexpr char kTpu[] =
    "HloModule m, is_scheduled=true\n"
    "ENTRY e { ROOT p = f32[8,128]{1,0:T(8,128)} parameter(0) }";

TEST(DumpFolderTest, ATpusOwnDecisionsComeFirst) {
  ptxla::testing::TemporaryFolder folder;
  folder.Write("module_0001.jit_f.cl_77.before_optimizations.txt", kPlain);
  folder.Write("module_0001.jit_f.cl_77.after_optimizations.txt", kTpu);
  folder.Write(
      "module_0001.jit_f.cl_77.after_optimizations-buffer-assignment.txt",
      "no program");
  folder.Write("module_0001.jit_f.flagfile", "no program");
  auto path = FindInDumpFolder(folder.path(), "", "");
  ASSERT_OK(path.status());
  EXPECT_THAT(*path, EndsWith("after_optimizations.txt"));
  path = FindInDumpFolder(folder.path(), "", "before_optimizations");
  ASSERT_OK(path.status());
  EXPECT_THAT(*path, EndsWith("before_optimizations.txt"));
  EXPECT_THAT(FindInDumpFolder(folder.path(), "", "x").status().message(),
              HasSubstr("only after_optimizations, before_optimizations"));
}

TEST(DumpFolderTest, AnotherMachinesDecisionsDoNot) {
  ptxla::testing::TemporaryFolder folder;
  folder.Write("module_0001.jit_f.before_optimizations.txt", kPlain);
  folder.Write("module_0001.jit_f.cpu_after_optimizations.txt", kPlain);
  folder.Write("module_0001.jit_f.after_optimizations.txt", kPlain);
  const auto input = ReadHlo(folder.path());
  ASSERT_OK(input.status());
  EXPECT_THAT(input->path, EndsWith("jit_f.before_optimizations.txt"));
}

TEST(DumpFolderTest, OneOfSeveralModulesIsChosenByName) {
  ptxla::testing::TemporaryFolder folder;
  folder.Write("module_0001.jit_f.before_optimizations.txt", kPlain);
  folder.Write("module_0002.jit_step.before_optimizations.txt", kPlain);
  EXPECT_THAT(FindInDumpFolder(folder.path(), "", "").status().message(),
              HasSubstr("2 modules; choose one with --hlo-module: "
                        "module_0001.jit_f, module_0002.jit_step"));
  const auto path = FindInDumpFolder(folder.path(), "step", "");
  ASSERT_OK(path.status());
  EXPECT_THAT(*path, HasSubstr("jit_step"));
}

TEST(DumpFolderTest, AllModulesRunOnceEachAndTheirStagesAreNamed) {
  ptxla::testing::TemporaryFolder folder;
  folder.Write("module_0001.jit_f.cl_77.before_optimizations.txt", kPlain);
  folder.Write("module_0001.jit_f.cl_77.after_optimizations.txt", kTpu);
  folder.Write(
      "module_0002.jit_step.before_optimizations.txt",
      "ENTRY e { p = f32[512,1024] parameter(0) ROOT n = f32[512,1024] "
      "negate(p) }");
  RunRequest request;
  request.hlo = folder.path();
  request.topology = "v6e-1";
  request.assumed_effects = false;
  const auto both = Predict(request);
  ASSERT_OK(both.status());
  ASSERT_EQ(both->record.programs_size(), 2);
  EXPECT_EQ(both->record.steady_program(), 1);  // the longest
  EXPECT_EQ(both->record.device_time_ps(),
            both->record.programs(0).device_time_ps() +
                both->record.programs(1).device_time_ps());
  const auto& notes = both->record.config().assumptions();
  ASSERT_GE(notes.size(), 2);
  EXPECT_EQ(
      notes[0],
      "module_0001.jit_f: after_optimizations, a TPU's: taken as it was "
      "compiled (--hlo-stage: after_optimizations, before_optimizations)");
  EXPECT_EQ(notes[1],
            "module_0002.jit_step: before_optimizations, compiled here");
  request.hlo_module = "step";
  const auto one = Predict(request);
  ASSERT_OK(one.status());
  ASSERT_EQ(one->record.programs_size(), 1);
  EXPECT_EQ(one->record.device_time_ps(),
            both->record.programs(1).device_time_ps());
}

TEST(DumpFolderTest, AFolderWithoutDumpsIsRefused) {
  ptxla::testing::TemporaryFolder folder;
  EXPECT_THAT(FindInDumpFolder(folder.path(), "", "").status().message(),
              HasSubstr("holds no module_*"));
}

TEST(HloInputTest, ElidedConstantsTakeTheAskedValues) {
  HloInputOptions options;
  options.elided = hlo::ElidedValues::kIota;
  const auto input = ReadHloBytes(
      "ENTRY e { ROOT c = f32[30] constant({...}) }", "f", options);
  ASSERT_OK(input.status());
  EXPECT_EQ(input->module->entry()->root()->literal().GetDouble(29), 29);
}

}  // namespace
}  // namespace ptxla::driver
