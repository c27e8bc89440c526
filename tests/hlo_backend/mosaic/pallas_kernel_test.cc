// Does a kernel's grid step see the blocks that its author wrote?
#include "hlo_backend/mosaic/pallas_kernel.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"
#include "hlo_backend/mosaic/index_math.h"
#include "tests/hlo_backend/mosaic/fixtures.h"
#include "tests/support/status_matchers.h"

namespace ptxla::mosaic {
namespace {

using ::ptxla::testing::ReadPallasCase;
using ::ptxla::testing::StatusIs;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Optional;

TEST(PallasKernelTest, GridAndSemantics) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("product_512"));
  EXPECT_EQ(k.name, "block_product");
  EXPECT_THAT(k.grid, ElementsAre(4, 2, 4));
  EXPECT_THAT(k.parallel, ElementsAre(true, true, false));
}

// (i, l), (l, j) and (i, j) of the grid index (i, j, l).
TEST(PallasKernelTest, WindowsMoveAsTheirMapsSay) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("product_512"));
  ASSERT_EQ(k.windows.size(), 3u);
  EXPECT_THAT(k.windows[0].block, ElementsAre(512, 512));
  EXPECT_THAT(k.windows[1].block, ElementsAre(512, 1024));
  EXPECT_THAT(k.windows[0].BlockAt(k, {3, 1, 2}),
              ElementsAre(Optional(3), Optional(2)));
  EXPECT_THAT(k.windows[1].BlockAt(k, {3, 1, 2}),
              ElementsAre(Optional(2), Optional(1)));
  EXPECT_THAT(k.windows[2].BlockAt(k, {3, 1, 2}),
              ElementsAre(Optional(3), Optional(1)));
}

TEST(PallasKernelTest, WhatAPrefetchedArraySaysIsNotKnown) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("pick_rows"));
  EXPECT_EQ(k.scalar_prefetch, 1);
  ASSERT_EQ(k.windows.size(), 2u);
  EXPECT_THAT(k.windows[0].BlockAt(k, {5}),
              ElementsAre(std::nullopt, Optional(0)));
  EXPECT_THAT(k.windows[1].BlockAt(k, {5}),
              ElementsAre(Optional(5), Optional(0)));
  // As long as the array that the map looks up.
  EXPECT_EQ(k.BoundOf(0), 64);
}

TEST(PallasKernelTest, ReadsFloatsOfEightBits) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("product_f8"));
  EXPECT_EQ(k.windows[0].type->element->name, "f8E4M3FN");
  EXPECT_EQ(k.windows[0].type->element->bits, 8);
}

// 4 is a shift and a mask.
TEST(PallasKernelTest, VectorsAreNotDividedByKnownNumbers) {
  ASSERT_OK_AND_ASSIGN(const PallasKernel k, ReadPallasCase("rows_of_heads"));
  int shifts = 0;
  for (const Operation& op : k.body().operations) {
    EXPECT_NE(op.name, "arith.divsi");
    EXPECT_NE(op.name, "arith.remsi");
    shifts += op.name == "arith.shrsi";
  }
  EXPECT_EQ(shifts, 1);
}

TEST(PallasKernelTest, ACallWithoutAKernelSaysSo) {
  EXPECT_THAT(
      PallasKernelOf("{\"custom_call_config\": {}}").status(),
      StatusIs(absl::StatusCode::kNotFound, HasSubstr("carries no kernel")));
  EXPECT_THAT(
      PallasKernelOf("{\"body\": \"?!\"}").status(),
      StatusIs(absl::StatusCode::kInvalidArgument, HasSubstr("not base64")));
}

// One operation on two numbers.
std::optional<int64_t> Compute(const std::string& name, int64_t a, int64_t b,
                               int64_t predicate = 0) {
  Type integer;
  integer.kind = Type::Kind::kScalar;
  integer.name = "i32";
  Module module;
  module.values.assign(3, &integer);
  Attribute number, attributes;
  number.kind = Attribute::Kind::kInteger;
  number.integer = predicate;
  attributes.kind = Attribute::Kind::kDictionary;
  attributes.names = {"predicate"};
  attributes.elements = {&number};
  Operation op;
  op.name = name;
  op.attributes = &attributes;
  op.operands = {0, 1};
  op.results = {2};
  IndexMath math(module);
  math.Set(0, a);
  math.Set(1, b);
  math.Run(op);
  return math.Get(2);
}

TEST(IndexMathTest, RoundsAndComparesAsTheOperationsDo) {
  EXPECT_EQ(Compute("arith.divsi", -7, 2), -3);
  EXPECT_EQ(Compute("arith.floordivsi", -7, 2), -4);
  EXPECT_EQ(Compute("arith.ceildivsi", 7, 2), 4);
  EXPECT_EQ(Compute("arith.remsi", -7, 4), -3);
  EXPECT_EQ(Compute("arith.shli", 3, 4), 48);
  EXPECT_EQ(Compute("arith.shrui", 800, 3), 100);
  EXPECT_EQ(Compute("arith.index_castui", 5, 0), 5);
  EXPECT_EQ(Compute("arith.cmpi", 3, 4, /*slt=*/2), 1);
  EXPECT_EQ(Compute("arith.cmpi", 4, 4, /*sge=*/5), 1);
  EXPECT_EQ(Compute("arith.cmpi", 4, 4, /*ne=*/1), 0);
}

// Constants of i32 may be written as unsigned.
TEST(IndexMathTest, ComputesInThirtyTwoBits) {
  EXPECT_EQ(Compute("arith.addi", 4294967295, 0), -1);
  EXPECT_EQ(Compute("arith.subi", INT32_MIN, 1), INT32_MAX);
  EXPECT_EQ(Compute("arith.cmpi", -1, 1, /*ult=*/6), 0);
  EXPECT_EQ(Compute("arith.remui", -1, 16), 15);
  EXPECT_EQ(Compute("arith.shrui", -1, 28), 15);
}

TEST(IndexMathTest, WhatHasNoResultIsUnknown) {
  EXPECT_EQ(Compute("arith.divsi", 1, 0), std::nullopt);
  EXPECT_EQ(Compute("arith.remsi", 1, 0), std::nullopt);
  EXPECT_EQ(Compute("arith.shli", 1, 99), std::nullopt);
  EXPECT_EQ(Compute("arith.shrui", 1, 32), std::nullopt);
  EXPECT_EQ(Compute("memref.load", 1, 2), std::nullopt);
}

}  // namespace
}  // namespace ptxla::mosaic
