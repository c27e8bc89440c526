// Which numbers do the arrays take for the products of a Pallas kernel?
#include "hlo_backend/lowering/custom_calls/block_numbers.h"

#include <string>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

mosaic::Type Element(const std::string& name) {
  mosaic::Type t;
  t.kind = mosaic::Type::Kind::kScalar;
  t.name = name;
  return t;
}

BlockNumbers Numbers(const std::string& chip, const std::string& operands,
                     const std::string& result) {
  const isa::MachineModel model =
      isa::FromChipSpec(*chips::ChipSpec::Load(chip));
  const mosaic::Type in = Element(operands), out = Element(result);
  return NumbersOfBlock(model, in, in, out, /*rhs_transposed=*/false);
}

// Rows per cycle.
double Rate(const BlockNumbers& n) {
  return static_cast<double>(n.arrays.rows) / n.arrays.interval;
}

TEST(BlockNumbersTest, EightBitsPassTwiceAsFastAndFourBitsFourTimes) {
  for (const char* chip : {"v5e", "v6e"}) {
    const double bf16 = Rate(Numbers(chip, "bf16", "f32"));
    EXPECT_EQ(Rate(Numbers(chip, "i8", "i32")), 2 * bf16) << chip;
    EXPECT_EQ(Rate(Numbers(chip, "i4", "i32")), 4 * bf16) << chip;
  }
}

TEST(BlockNumbersTest, WithoutIntegerArraysTheyAreConverted) {
  const BlockNumbers n = Numbers("tpu7x", "i8", "i32");
  EXPECT_EQ(Rate(n), Rate(Numbers("tpu7x", "bf16", "f32")));
  EXPECT_GT(n.lhs_operations, 0);
  EXPECT_GT(n.result_operations, 0);
}

TEST(BlockNumbersTest, FourBitsAreFp8WhereThatIsAllThereIs) {
  EXPECT_EQ(Rate(Numbers("tpu7x", "i4", "i32")),
            Rate(Numbers("tpu7x", "f8E4M3FN", "f32")));
}

// Its exponents are scaled into those of the format that the arrays have.
TEST(BlockNumbersTest, F8E4M3FnGoesThroughF8E4M3B11) {
  const BlockNumbers n = Numbers("v6e", "f8E4M3FN", "f32");
  EXPECT_EQ(n.arrays.rows, 32);
  EXPECT_EQ(n.result_operations, 1);
  EXPECT_EQ(Numbers("tpu7x", "f8E4M3FN", "f32").result_operations, 0);
}

}  // namespace
}  // namespace ptxla::lowering
