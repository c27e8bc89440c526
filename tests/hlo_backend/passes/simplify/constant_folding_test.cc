#include "hlo_backend/passes/simplify/constant_folding.h"

#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// The literal that the root of this expression folds to, or nothing.
std::unique_ptr<Module> Folded(const std::string& body) {
  auto module = ParseModule("HloModule m\nENTRY e {\n" + body + "\n}\n");
  EXPECT_OK(module.status());
  ConstantFoldingPass pass;
  EXPECT_OK(pass.Run(module->get(), {}).status());
  return *std::move(module);
}

std::string RootText(const std::string& body) {
  auto module = Folded(body);
  const Instruction* root = module->entry()->root();
  return root->IsConstant() ? root->literal().ToString()
                            : std::string(OpcodeName(root->opcode()));
}

TEST(ConstantFoldingTest, IntegersWrap) {
  EXPECT_EQ(RootText("a = u32[] constant(4294967295)\n b = u32[] constant(2)\n"
                     "ROOT r = u32[] add(a, b)"),
            "1");
  EXPECT_EQ(RootText("a = s32[] constant(2147483647)\n b = s32[] constant(1)\n"
                     "ROOT r = s32[] add(a, b)"),
            "-2147483648");
}

TEST(ConstantFoldingTest, UnsignedCompareIsUnsigned) {
  EXPECT_EQ(RootText("a = u32[] constant(4294967295)\n b = u32[] constant(2)\n"
                     "ROOT r = pred[] compare(a, b), direction=LT"),
            "false");
}

TEST(ConstantFoldingTest, DivisionByZeroStays) {
  EXPECT_EQ(RootText("a = s32[] constant(4)\n b = s32[] constant(0)\n"
                     "ROOT r = s32[] divide(a, b)"),
            "divide");
}

TEST(ConstantFoldingTest, TranscendentalFunctionsStay) {
  EXPECT_EQ(RootText("a = f32[] constant(1)\nROOT r = f32[] exponential(a)"),
            "exponential");
}

TEST(ConstantFoldingTest, ShiftsOfTheWidthGiveZero) {
  EXPECT_EQ(RootText("a = u32[] constant(5)\n b = u32[] constant(32)\n"
                     "ROOT r = u32[] shift-right-logical(a, b)"),
            "0");
}

TEST(ConstantFoldingTest, ArithmeticShiftsMoveTheTopBitInWithoutSignToo) {
  EXPECT_EQ(RootText("a = u32[3] constant({4294967295, 2147483648, 5})\n"
                     "b = u32[3] constant({1, 40, 1})\n"
                     "ROOT r = u32[3] shift-right-arithmetic(a, b)"),
            "{4294967295, 4294967295, 2}");
}

TEST(ConstantFoldingTest, FloatsBeyondTheIntegersBecomeTheLastOne) {
  const std::string floats =
      "a = f32[6] constant({300, -300, 1.75, -0.5, inf, nan})\n";
  EXPECT_EQ(RootText(floats + "ROOT r = s8[6] convert(a)"),
            "{127, -128, 1, 0, 127, 0}");
  EXPECT_EQ(RootText(floats + "ROOT r = u8[6] convert(a)"),
            "{255, 0, 1, 0, 255, 0}");
  EXPECT_EQ(RootText("a = f64[2] constant({1e30, -1e30})\n"
                     "ROOT r = s64[2] convert(a)"),
            "{9223372036854775807, -9223372036854775808}");
  EXPECT_EQ(RootText("a = f64[3] constant({1e30, -1, 1.5e19})\n"
                     "ROOT r = u64[3] convert(a)"),
            "{18446744073709551615, 0, 15000000000000000000}");
}

TEST(ConstantFoldingTest, TransposesAndSlicesMoveElements) {
  EXPECT_EQ(RootText("a = s32[2,3] constant({{1,2,3},{4,5,6}})\n"
                     "ROOT r = s32[3,2] transpose(a), dimensions={1,0}"),
            "{ { 1, 4 }, { 2, 5 }, { 3, 6 } }");
  EXPECT_EQ(RootText("a = s32[5] constant({1,2,3,4,5})\n"
                     "ROOT r = s32[2] slice(a), slice={[1:5:2]}"),
            "{2, 4}");
}

TEST(ConstantFoldingTest, ConcatenatesAlongTheDimension) {
  EXPECT_EQ(RootText("a = s32[2,1] constant({{1},{2}})\n"
                     "b = s32[2,2] constant({{3,4},{5,6}})\n"
                     "ROOT r = s32[2,3] concatenate(a, b), dimensions={1}"),
            "{ { 1, 3, 4 }, { 2, 5, 6 } }");
}

TEST(ConstantFoldingTest, BitsKeepTheirPattern) {
  EXPECT_EQ(RootText("a = u32[] constant(4294967295)\n"
                     "ROOT r = s32[] bitcast-convert(a)"),
            "-1");
}

TEST(ConstantFoldingTest, RoundsToTheType) {
  EXPECT_EQ(RootText("a = bf16[] constant(1)\n b = bf16[] constant(0.001)\n"
                     "ROOT r = bf16[] add(a, b)"),
            "1");
}

}  // namespace
}  // namespace ptxla::hlo
