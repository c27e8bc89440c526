// Is the bytecode of a Pallas kernel read as what it is, and is what is broken
// refused?
#include "hlo_backend/mosaic/bytecode_reader.h"

#include <random>

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::mosaic {
namespace {

using ::ptxla::testing::kPallasCases;
using ::ptxla::testing::PallasPayload;
using ::ptxla::testing::StatusIs;
using ::testing::HasSubstr;

TEST(BytecodeReaderTest, OperationsHaveTheirNamesTypesAndAttributes) {
  ASSERT_OK_AND_ASSIGN(const Module module,
                       ReadBytecode(PallasPayload("product_512")));
  const std::string text = ToText(module);
  EXPECT_THAT(text, HasSubstr("sym_name = \"block_product\""));
  EXPECT_THAT(text, HasSubstr("iteration_bounds = [4, 2, 4]"));
  EXPECT_THAT(text, HasSubstr("memref<512x512xbf16, vmem>"));
  EXPECT_THAT(text, HasSubstr("memref<512x1024xf32, vmem>"));
  EXPECT_THAT(text, HasSubstr(": vector<512x1024xf32> {dimension_numbers = "
                              "#tpu.dot_dimension_numbers<"));
  EXPECT_THAT(text, HasSubstr("arith.truncf"));
}

TEST(BytecodeReaderTest, OperandsAreDefinedBeforeTheyAreRead) {
  for (const char* name : kPallasCases) {
    ASSERT_OK_AND_ASSIGN(const Module module,
                         ReadBytecode(PallasPayload(name)));
    ASSERT_FALSE(module.Functions().empty()) << name;
    for (const Operation* function : module.Functions()) {
      int last = -1;
      for (const Operation& op : function->regions[0].blocks[0].operations) {
        for (const int result : op.results) {
          EXPECT_GT(result, last) << name;
          last = result;
        }
        for (const int operand : op.operands) {
          EXPECT_TRUE(op.results.empty() || operand < op.results[0]) << name;
        }
      }
    }
  }
}

TEST(BytecodeReaderTest, FunctionsAreFoundByName) {
  ASSERT_OK_AND_ASSIGN(const Module module,
                       ReadBytecode(PallasPayload("rms_norm")));
  EXPECT_NE(module.Function("transform_0"), nullptr);
  EXPECT_EQ(module.Function("transform_9"), nullptr);
}

TEST(BytecodeReaderTest, WhatIsNotBytecodeIsRefused) {
  EXPECT_THAT(ReadBytecode("module {}").status(),
              StatusIs(absl::StatusCode::kInvalidArgument,
                       HasSubstr("does not begin as MLIR bytecode")));
  std::string newer = PallasPayload("rms_norm");
  newer[4] = 13;  // version 6 as a varint
  EXPECT_THAT(
      ReadBytecode(newer).status(),
      StatusIs(absl::StatusCode::kUnimplemented, HasSubstr("of version 6")));
}

TEST(BytecodeReaderTest, EveryTruncationIsRefused) {
  const std::string whole = PallasPayload("pick_rows");
  ASSERT_GT(whole.size(), 100u);
  for (size_t size = 0; size + 8 < whole.size(); size += 7) {
    EXPECT_FALSE(ReadBytecode(whole.substr(0, size)).ok()) << size;
  }
}

// Whatever the bytes, reading ends with a module or an error, and what was read
// can be walked.
TEST(BytecodeReaderTest, DamagedBytesDoNoHarm) {
  std::mt19937 random(7);
  int refused = 0;
  for (int round = 0; round < 2000; ++round) {
    std::string bytes = PallasPayload(kPallasCases[round % 6]);
    for (int k = 0; k < 1 + round % 4; ++k) {
      bytes[8 + random() % (bytes.size() - 8)] = static_cast<char>(random());
    }
    const auto module = ReadBytecode(bytes);
    if (module.ok()) {
      EXPECT_FALSE(ToText(*module).empty());
    } else {
      ++refused;
    }
  }
  EXPECT_GT(refused, 200);
}

}  // namespace
}  // namespace ptxla::mosaic
