// Which file of an --xla_dump_to folder is used.
#include "driver/dump_folder.h"

#include "driver/hlo_input.h"
#include "gmock/gmock.h"
#include "gtest/gtest.h"
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
