// Are operations that are not what they say refused, and numbers that stand in
// constants known?
#include <string>
#include <vector>

#include "gtest/gtest.h"
#include "hlo_backend/mosaic/index_math.h"
#include "hlo_backend/mosaic/known_divisors.h"
#include "hlo_backend/mosaic/operand_counts.h"
#include "tests/hlo_backend/mosaic/kernel_builder.h"
#include "tests/support/status_matchers.h"

namespace ptxla::mosaic {
namespace {

using ::ptxla::testing::KernelBuilder;

absl::Status Check(KernelBuilder* b) {
  b->Kernel();
  return CheckOperandCounts(b->module());
}

TEST(OperandsTest, AReductionOfNoVectorIsRefused) {
  for (const char* name : {"vector.multi_reduction", "vector.reduction",
                           "tpu.all_reduce", "tpu.reduce_index"}) {
    KernelBuilder scalar, vector;
    scalar.Op(name, {scalar.Constant(1)}, scalar.i32());
    EXPECT_FALSE(Check(&scalar).ok()) << name;
    const int row = vector.Value(vector.Vector({8, 128}, vector.i32()));
    vector.Op(name, {row}, vector.i32());
    EXPECT_OK(Check(&vector)) << name;
  }
}

TEST(OperandsTest, AVectorThatNoMemoryHoldsIsRefused) {
  KernelBuilder large, larger;
  large.Op("tpu.iota", {}, large.Vector({1 << 13, 1 << 13}, large.i32()));
  EXPECT_OK(Check(&large));
  larger.Op("tpu.iota", {}, larger.Vector({1 << 13, 8193}, larger.i32()));
  EXPECT_FALSE(Check(&larger).ok());
}

// The name of a division of vectors of `bits` wide integers by `divisor`.
std::string DividedBy(int bits, const std::string& divisor) {
  KernelBuilder b;
  const Type* type =
      b.Vector({8, 128}, b.Scalar("i" + std::to_string(bits), bits));
  Attribute dense;
  dense.kind = Attribute::Kind::kDense;
  dense.type = type;
  dense.text = divisor;
  const int by = b.Op("arith.constant", {}, type, b.With("value", dense));
  b.Op("arith.divsi", {b.Value(type), by}, type);
  const PallasKernel& kernel = b.Kernel();
  RenameKnownDivisions(&b.module());
  return kernel.body().operations.back().name;
}

TEST(OperandsTest, ADivisorIsAsWideAsItsType) {
  EXPECT_EQ(DividedBy(32, std::string("\4\0\0\0", 4)), "arith.shrsi");
  EXPECT_EQ(DividedBy(16, std::string("\4\0", 2)), "arith.shrsi");
  EXPECT_EQ(DividedBy(8, "\5"), "arith.muli");
  // Four numbers of a byte; a negative one.
  EXPECT_EQ(DividedBy(8, std::string("\4\0\0\0", 4)), "arith.divsi");
  EXPECT_EQ(DividedBy(8, "\xfc"), "arith.divsi");
}

TEST(OperandsTest, CastsHandOnTheirOperand) {
  for (const char* name : {"arith.index_cast", "arith.index_castui",
                           "arith.trunci", "tpu.assume_multiple"}) {
    EXPECT_TRUE(IsCast(name)) << name;
  }
  EXPECT_FALSE(IsCast("arith.addi"));
}

}  // namespace
}  // namespace ptxla::mosaic
