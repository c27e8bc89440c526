// What two compilers' decisions have in common.
#include "driver/parity/parity.h"

#include "base/files.h"
#include "driver/hlo_input.h"
#include "driver/parity/compiler_table.h"
#include "driver/parity/our_kernels.h"
#include "driver/parity/parity_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using ::testing::HasSubstr;

constexpr char kTable[] =
    "program,chip,kind,name,opcode,root_opcode,out_shape,out_space,"
    "operand_shapes,operand_spaces,operand_bytes,copy_bytes,iteration_bounds,"
    "bundles\n"
    "X/a.hlo,v6e,program,,,,,,,,,,,\n"
    "X/a.hlo,v6e,kernel,cs,copy-start,,\"bf16[8,16]\",1,\"bf16[8,16]\",0,256,"
    "256,,\n"
    "X/a.hlo,v6e,kernel,cs.1,copy-start,,\"bf16[8,16]\",0,\"bf16[8,16]\",1,256,"
    "256,,\n"
    "X/a.hlo,v6e,kernel,f,fusion:Output,convolution,\"bf16[8,8]\",0,"
    "\"bf16[8,16] bf16[16,8]\",01,256 256,,2x4x1,100\n"
    "X/a.hlo,v6e,kernel,i,add,,s32[],0,s32[] s32[],00,4 4,,,\n";

class ParityTest : public ::testing::Test {
 protected:
  ProgramFacts Theirs() {
    const std::string path = ::testing::TempDir() + "/parity_table.csv";
    EXPECT_OK(WriteFile(path, kTable));
    const auto table = ReadCompilerTable(path);
    EXPECT_OK(table);
    EXPECT_EQ(table->size(), 1);
    return table->at(0);
  }
  // As they have it, but one grid step and all in HBM.
  ProgramFacts Ours() {
    KernelFacts k;
    k.name = "dot";
    k.root = "convolution";
    k.operands = {{"bf16", 128, 256, '0'}, {"bf16", 128, 256, '0'}};
    k.outputs = {{"bf16", 64, 128, '0'}};
    k.steps = 1;
    k.cost = 1000;
    k.cost_by_steps = {{1, 1000}, {8, 1020}};
    k.bundles = 90;
    ProgramFacts p;
    p.kernels = {k};
    return p;
  }
};

TEST_F(ParityTest, ATableHasKernelsWithoutTheScalarUnitsAndPrefetchesByBytes) {
  const ProgramFacts p = Theirs();
  ASSERT_EQ(p.kernels.size(), 1);
  EXPECT_EQ(p.kernels[0].steps, 8);
  EXPECT_EQ(p.kernels[0].bundles, 100);
  EXPECT_EQ(p.kernels[0].operands[1].space, '1');
  // What goes back to HBM is no prefetch.
  EXPECT_EQ(p.prefetched_bytes, 256);
}

TEST_F(ParityTest, TheSameKernelMayDifferInSpacesAndSteps) {
  const ProgramParity p = Compare(Theirs(), Ours());
  EXPECT_TRUE(p.SameKernels());
  ASSERT_EQ(p.pairs.size(), 1);
  const KernelPair& k = p.pairs[0];
  EXPECT_EQ(k.operand_bytes, 512);
  EXPECT_EQ(k.same_space_bytes, 256);
  EXPECT_FALSE(k.SameSteps());
  EXPECT_TRUE(k.AsGoodSteps());
  EXPECT_NEAR(*k.cost_of_their_steps, 0.02, 1e-9);
}

TEST_F(ParityTest, StepsThatCostMoreByOurCostAreNotAsGood) {
  ProgramFacts ours = Ours();
  ours.kernels[0].cost_by_steps[8] = 1040;
  EXPECT_FALSE(Compare(Theirs(), ours).pairs[0].AsGoodSteps());
  ours.kernels[0].cost_by_steps.erase(8);
  EXPECT_FALSE(Compare(Theirs(), ours).pairs[0].AsGoodSteps());
}

TEST_F(ParityTest, MemoryAndWorkingKernelsStandBesideTheirs) {
  const std::string path = ::testing::TempDir() + "/parity_memory.csv";
  ASSERT_OK(WriteFile(
      path,
      "program,chip,kind,name,opcode,root_opcode,out_shape,out_space,"
      "operand_shapes,operand_spaces,operand_bytes,copy_bytes,"
      "iteration_bounds,bundles,argument_bytes,output_bytes,temp_bytes,"
      "alias_bytes\n"
      "a.hlo,v6e,program,,,,,,,,,,,,512,128,64,32\n"
      "a.hlo,v6e,kernel,f,fusion:Output,convolution,\"bf16[8,8]\",0,"
      "\"bf16[8,16] bf16[16,8]\",00,256 256,,1,100,,,,\n"
      "a.hlo,v6e,kernel,c,custom-call,,\"u32[8,16]\",0,\"s64[8,16]\",0,1024,,"
      ",,,,,\n"));
  const auto table = ReadCompilerTable(path);
  ASSERT_OK(table);
  ProgramFacts ours = Ours();
  ours.memory = {512, 256, 32, 0};
  Parity parity;
  parity.programs = {Compare(table->at(0), ours)};
  // The custom call names memory; what both have stands once.
  EXPECT_THAT(MemoryMarkdown(parity),
              HasSubstr("| a.hlo | 512 | 128 / 256 | 32 | 64 / 0 | 1 |\n"));
}

TEST_F(ParityTest, AnotherRootOrAnotherOperandIsAnotherKernel) {
  ProgramFacts ours = Ours();
  ours.kernels[0].root = "add";
  const ProgramParity p = Compare(Theirs(), ours);
  EXPECT_FALSE(p.SameKernels());
  EXPECT_EQ(p.only_theirs.size(), 1);
  EXPECT_EQ(p.only_ours.size(), 1);
  ours = Ours();
  ours.kernels[0].operands[0].elements = 64;
  EXPECT_FALSE(Compare(Theirs(), ours).SameKernels());
}

// How each compiler names it.
TEST_F(ParityTest, ATurnedArrayOrAConversionAtTheEndIsNoOtherKernel) {
  ProgramFacts theirs = Theirs();
  ProgramFacts ours = Ours();
  const auto same = [&](const char* root_there, const char* root_here) {
    theirs.kernels[0].root = root_there;
    ours.kernels[0].root = root_here;
    return Compare(theirs, ours).SameKernels();
  };
  EXPECT_TRUE(same("copy", "transpose"));
  EXPECT_TRUE(same("convert", "multiply"));
  EXPECT_FALSE(same("convert", "convolution"));
  EXPECT_FALSE(same("multiply", "convert"));
  EXPECT_FALSE(same("copy", "reverse"));
}

TEST_F(ParityTest, OurKernelsAreThoseOfTheSchedule) {
  const std::string path = ::testing::TempDir() + "/parity.hlo";
  ASSERT_OK(WriteFile(path, R"(HloModule m
ENTRY e {
  a = bf16[256,512] parameter(0)
  b = bf16[512,1024] parameter(1)
  d = bf16[256,1024] dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  ROOT n = bf16[256,1024] negate(d)
})"));
  auto input = ReadHlo(path);
  ASSERT_OK(input);
  const auto slice = chips::ParseSlice("v6e-1");
  ASSERT_OK(slice);
  const auto ours = OurKernels(std::move(input->module), *slice);
  ASSERT_OK(ours);
  ASSERT_EQ(ours->kernels.size(), 1);
  const KernelFacts& k = ours->kernels[0];
  EXPECT_EQ(k.root, "negate");
  EXPECT_EQ(k.operands.size(), 2);
  EXPECT_GT(k.steps, 0);
  EXPECT_GT(k.bundles, 0);
  EXPECT_EQ(k.cost_by_steps.at(k.steps), k.cost);
}

TEST_F(ParityTest, EmptyBundlesDoNotCount) {
  const std::string path = ::testing::TempDir() + "/parity_sum.hlo";
  ASSERT_OK(WriteFile(path, R"(HloModule m
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT s = f32[] add(x, y)
}
ENTRY e {
  a = f32[131072] parameter(0)
  z = f32[] constant(0)
  ROOT r = f32[] reduce(a, z), dimensions={0}, to_apply=add
})"));
  auto input = ReadHlo(path);
  ASSERT_OK(input);
  const auto slice = chips::ParseSlice("v6e-1");
  ASSERT_OK(slice);
  const auto ours = OurKernels(std::move(input->module), *slice);
  ASSERT_OK(ours);
  ASSERT_EQ(ours->kernels.size(), 1);
  // Each of 128 registers is added to the sum two cycles after the one before.
  EXPECT_GE(ours->kernels[0].bundles, 128);
  EXPECT_LT(ours->kernels[0].bundles, 2 * 128);
}

TEST_F(ParityTest, AProgramThatIsNotThereFailsAndIsCounted) {
  const std::string path = ::testing::TempDir() + "/parity_table.csv";
  ASSERT_OK(WriteFile(path, kTable));
  ParityOptions options;
  options.programs = ::testing::TempDir() + "/nowhere";
  options.threads = 1;
  const auto parity = CompareCompilers(path, options);
  ASSERT_OK(parity);
  EXPECT_EQ(parity->total.failed, 1);
  EXPECT_EQ(parity->total.same_kernels, 0);
  EXPECT_THAT(ParityMarkdown(*parity), HasSubstr("| X | v6e | 1 | 0.0 |"));
}

TEST_F(ParityTest, ATableWithoutTheColumnsNamesTheMissingOne) {
  const std::string path = ::testing::TempDir() + "/bad_table.csv";
  ASSERT_OK(WriteFile(path, "program,chip\nx,v6e\n"));
  EXPECT_THAT(std::string(ReadCompilerTable(path).status().message()),
              HasSubstr("no column \"kind\""));
}

}  // namespace
}  // namespace ptxla::driver
