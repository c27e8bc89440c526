// Random bits made by arithmetic are those of the algorithm, and so is the
// state behind them.
#include "absl/strings/substitute.h"
#include "hlo_backend/evaluator/evaluator.h"
#include "hlo_backend/ir/parser.h"
#include "hlo_backend/ir/verifier.h"
#include "hlo_backend/passes/pipeline.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

// Counters that overflow into their next word.
Literal State(const Shape& shape) {
  const uint64_t words[] = {0x0123456789abcdef, 0xfffffffffffffffe,
                            0xffffffffffffffff};
  Literal state(shape);
  for (int64_t i = 0; i < shape.ElementCount(); ++i) {
    const uint64_t word = BitWidth(shape.type()) == 64
                              ? words[i]
                              : uint32_t(words[i / 2] >> (i % 2 * 32));
    state.SetInt(i, static_cast<int64_t>(word));
  }
  return state;
}

void ExpectSame(const char* algorithm, const char* state, const char* bits) {
  const std::string text = absl::Substitute(R"(
HloModule m
ENTRY e {
 s = $1 parameter(0)
 ROOT r = ($1, $2) rng-bit-generator(s), algorithm=$0
})",
                                            algorithm, state, bits);
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(text));
  const Literal s = State(module->entry()->parameter(0)->shape());
  ASSERT_OK_AND_ASSIGN(const Literal expected, Evaluate(*module, {s}));
  ASSERT_OK(Pipeline::FromNames("rng-bit-generator-expander")
                ->Run(module.get(), {})
                .status());
  ASSERT_OK(VerifyModule(*module));
  for (const Instruction* i : module->entry()->instructions()) {
    ASSERT_NE(i->opcode(), Opcode::kRngBitGenerator) << text;
  }
  ASSERT_OK_AND_ASSIGN(const Literal actual, Evaluate(*module, {s}));
  EXPECT_EQ(actual.ToString(), expected.ToString()) << text;
}

TEST(RngBitGeneratorExpanderTest, ThreeFryOfEveryShapeAndType) {
  for (const char* bits :
       {"u32[]", "u32[1]", "u32[7]", "u32[6]", "u32[3,5]", "u32[3,4,5]",
        "u8[5,6]", "s16[129]", "s32[2,2]", "u64[5,3]", "u64[]"}) {
    ExpectSame("rng_three_fry", "u64[2]", bits);
  }
  ExpectSame("rng_three_fry", "u32[4]", "u32[3,4]");
}

TEST(RngBitGeneratorExpanderTest, PhiloxOfEveryShapeAndType) {
  for (const char* state : {"u64[2]", "u64[3]", "u32[4]", "u32[6]"}) {
    for (const char* bits : {"u32[]", "u32[7]", "u32[8]", "u32[3,5]", "u8[5,6]",
                             "s16[129]", "u64[5,3]"}) {
      ExpectSame("rng_philox", state, bits);
    }
  }
}

// The chip's own generator is one instruction there.
TEST(RngBitGeneratorExpanderTest, TheHardwaresGeneratorStays) {
  ASSERT_OK_AND_ASSIGN(auto module, ParseModule(R"(
HloModule m
ENTRY e {
 s = u64[2] parameter(0)
 ROOT r = (u64[2], u32[8]) rng-bit-generator(s), algorithm=rng_default
})"));
  ASSERT_OK(Pipeline::FromNames("rng-bit-generator-expander")
                ->Run(module.get(), {})
                .status());
  EXPECT_EQ(module->entry()->root()->opcode(), Opcode::kRngBitGenerator);
}

}  // namespace
}  // namespace ptxla::hlo
