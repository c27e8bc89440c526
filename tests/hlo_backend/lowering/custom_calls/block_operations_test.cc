// Do products of a batch load the weights of each, and reductions read their
// dimensions?
#include <string>
#include <utility>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/kernel_builder.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using mosaic::Attribute;
using mosaic::Type;
using ::ptxla::testing::KernelBuilder;

class BlockOperationsTest : public ::testing::Test {
 protected:
  int Load(const Type* type) {
    return b_.Op("vector.load",
                 {b_.Value(b_.MemRef(type->dims, type->element, "vmem"))},
                 type);
  }
  void Store(int value) {
    const Type* type = b_.module().values[value];
    b_.Op("tpu.vector_store",
          {value, b_.Value(b_.MemRef(type->dims, type->element, "vmem"))},
          nullptr);
  }
  const Attribute* Text(const std::string& name, const std::string& text) {
    Attribute a;
    a.kind = Attribute::Kind::kText;
    a.text = text;
    return b_.With(name, a);
  }
  // Cycles of what was written since the last time.
  int64_t Schedule(const std::string& chip) {
    model_ = isa::FromChipSpec(*chips::ChipSpec::Load(chip));
    ElementwiseCosts costs(model_);
    b_.module().top.operations = std::move(b_.top().operations);
    b_.top().operations.clear();
    BlockSchedule schedule(b_.module(), model_, &costs);
    for (const mosaic::Operation& op : b_.module().top.operations) {
      schedule.Add(op);
    }
    const int64_t cycles = schedule.Finish();
    vector_ = schedule.instructions()[static_cast<int>(isa::Slot::kVector)];
    pops_ = schedule.instructions()[static_cast<int>(isa::Slot::kPop)];
    return cycles;
  }
  // [batch, 8, 128] by [batch, 128, 128] along the rhs's `dimension`.
  int64_t Batched(const std::string& chip, int64_t batch, int dimension) {
    const std::string along = std::to_string(dimension);
    Store(b_.Op("tpu.matmul",
                {Load(b_.Vector({batch, 8, 128}, bf16_)),
                 Load(b_.Vector({batch, 128, 128}, bf16_))},
                b_.Vector({batch, 8, 128}, f32_),
                Text("dimension_numbers",
                     "#tpu.dot_dimension_numbers<[2], [" + along +
                         "], [1], [2], [0, 0, 0, 1, 1, 2], [0], [0]>")));
    return Schedule(chip);
  }

  KernelBuilder b_;
  const Type* f32_ = b_.Scalar("f32", 32);
  const Type* bf16_ = b_.Scalar("bf16", 16);
  isa::MachineModel model_;
  int64_t vector_ = 0, pops_ = 0;
};

// libtpu 0.0.42.1: 485 bundles, 374 without the empty ones.
TEST_F(BlockOperationsTest, EachProductOfABatchHasItsOwnWeights) {
  const int64_t cycles = Batched("v5e", 32, 1);
  EXPECT_GT(cycles, 350);
  EXPECT_LT(cycles, 410);
  EXPECT_EQ(pops_, 32);
}

TEST_F(BlockOperationsTest, MoreProductsOfABatchTakeLonger) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    EXPECT_GT(Batched(chip, 64, 1), Batched(chip, 16, 1) * 2) << chip;
  }
}

// What is multiplied along its last dimension is turned on its way.
TEST_F(BlockOperationsTest, WeightsAlongTheirLastDimensionAreTurned) {
  const int64_t straight = Batched("v6e", 32, 1);
  EXPECT_GT(Batched("v6e", 32, 2), straight);
  EXPECT_EQ(Batched("v6e", 32, 1), straight);
}

// v4 has no bytes in its arrays. A row that all rows repeat is one register.
TEST_F(BlockOperationsTest, WhatIsThereOnceIsConvertedOnce) {
  const Type* i8 = b_.Scalar("i8", 8);
  const Type* row = b_.Vector({1, 128}, i8);
  const Type* square = b_.Vector({4096, 128}, i8);
  const int weights = Load(b_.Vector({128, 128}, bf16_));
  const int rows = b_.Op("vector.broadcast", {Load(row)}, square);
  Store(b_.Op("tpu.matmul", {rows, weights}, b_.Vector({4096, 128}, f32_)));
  Schedule("v4");
  const int64_t once = vector_;
  Store(b_.Op("tpu.matmul", {Load(square), Load(b_.Vector({128, 128}, bf16_))},
              b_.Vector({4096, 128}, f32_)));
  Schedule("v4");
  EXPECT_EQ(vector_, 128 * once);
}

// libtpu 0.0.42.1 has 224 comparisons, 448 selections, and two instructions of
// the XLUs for each of 32 groups of rows, in 546 bundles without the empty
// ones.
TEST_F(BlockOperationsTest, WhereAMaximumLiesIsSelectedThenLookedUp) {
  Store(b_.Op("tpu.reduce_index", {Load(b_.Vector({256, 1024}, f32_))},
              b_.Vector({256}, f32_), b_.With("axis", b_.Integer(1))));
  const int64_t cycles = Schedule("v5e");
  EXPECT_EQ(vector_, 224 + 448);
  EXPECT_EQ(pops_, 2 * 32);
  EXPECT_GT(cycles, 420);
  EXPECT_LT(cycles, 600);
}

// 8 rows of 128 numbers in each of 16 x 8 registers: lanes are combined into
// one register a row first, sublanes take 15 instructions and 6 more a column.
TEST_F(BlockOperationsTest, AReductionsDimensionIsWhatItsNameSays) {
  const Type* square = b_.Vector({128, 1024}, f32_);
  for (const char* name : {"axis", "dim"}) {
    Store(b_.Op("tpu.reduce_index", {Load(square)}, b_.Vector({128}, f32_),
                b_.With(name, b_.Integer(1))));
    Schedule("v5e");
    EXPECT_EQ(vector_, 16 * 7 * 3) << name;
    EXPECT_EQ(pops_, 2 * 16) << name;
    Store(b_.Op("tpu.all_reduce", {Load(square)}, b_.Vector({1024}, f32_),
                b_.With(name, b_.Integer(0))));
    Schedule("v5e");
    EXPECT_EQ(vector_, 8 * (15 + 6)) << name;
    EXPECT_EQ(pops_, 0) << name;
  }
}

}  // namespace
}  // namespace ptxla::lowering
