// What a TPU does that XLA on a CPU does not: rounded operands of products, and
// the order of generated bits.
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(RngDefaultTest, BitsLieAsTheTiledBufferHoldsThem) {
  // u8: rows 0 to 3 of a lane are the bytes of one word; u32: row-major in
  // 8 x 128 tiles.
  const Literal key = Literal::FromVector<uint64_t>({2}, {7, 0});
  const auto words = EvaluateText(R"(HloModule m
ENTRY e {
  k = u64[2] parameter(0)
  ROOT r = (u64[2], u32[8,128]) rng-bit-generator(k), algorithm=rng_default
})",
                                  {key});
  const auto bytes = EvaluateText(R"(HloModule m
ENTRY e {
  k = u64[2] parameter(0)
  ROOT r = (u64[2], u8[32,128]) rng-bit-generator(k), algorithm=rng_default
})",
                                  {key});
  ASSERT_OK(words.status());
  ASSERT_OK(bytes.status());
  const Literal& w = words->elements()[1];
  const Literal& b = bytes->elements()[1];
  for (int row : {0, 5, 31}) {
    for (int lane : {0, 77}) {
      const uint32_t word = w.Get<uint32_t>(row / 4 * 128 + lane);
      EXPECT_EQ(b.Get<uint8_t>(row * 128 + lane),
                (word >> (row % 4 * 8)) & 0xff);
    }
  }
  EXPECT_EQ(words->elements()[0].Get<uint64_t>(1), 1u);
}

TEST(TpuModeTest, DotsRoundTheirOperandsByPrecision) {
  const Literal x = Literal::FromVector<float>({1, 1}, {1.0f + 0x1p-10f});
  const Literal y = Literal::FromVector<float>({1, 1}, {1.0f + 0x1p-20f});
  auto dot = [&](absl::string_view precision, bool tpu) {
    EvaluatorOptions options;
    options.tpu_mode = tpu;
    const auto result = EvaluateText(
        absl::StrCat(
            "HloModule m\nENTRY e {\n  x = f32[1,1] parameter(0)\n  y = "
            "f32[1,1] parameter(1)\n  ROOT d = f32[1,1] dot(x, y), "
            "lhs_contracting_dims={1}, rhs_contracting_dims={0}",
            precision, "\n}\n"),
        {x, y}, options);
    EXPECT_OK(result.status());
    return result.ok() ? result->Get<float>(0) : 0;
  };
  const float exact = (1.0f + 0x1p-10f) * (1.0f + 0x1p-20f);
  EXPECT_EQ(dot("", true), 1.0f);
  EXPECT_EQ(dot("", false), exact);
  EXPECT_EQ(dot(", operand_precision={highest,highest}", true), exact);
  // Two bf16 parts hold 1 + 2^-10 exactly.
  EXPECT_FLOAT_EQ(dot(", operand_precision={high,high}", true), exact);
}

}  // namespace
}  // namespace ptxla::hlo
