// What instructions do operations on whole vectors become?
#include "hlo_backend/lowering/custom_calls/block_schedule.h"

#include <array>
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "isa/from_chip_spec.h"
#include "tests/hlo_backend/mosaic/kernel_builder.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using mosaic::Attribute;
using mosaic::Module;
using mosaic::Operation;
using mosaic::Type;

class BlockScheduleTest : public ::testing::Test,
                          protected ::ptxla::testing::KernelBuilder {
 protected:
  using KernelBuilder::Keep;
  const Attribute* Keep(const Attribute& a) {
    return &attributes_.emplace_back(a);
  }
  int Value(const Type* type) {
    module_.values.push_back(type);
    return static_cast<int>(module_.values.size()) - 1;
  }

  int Op(const std::string& name, const std::vector<int>& operands,
         const Type* result, const Attribute* attributes = nullptr) {
    Operation op;
    op.name = name;
    op.operands = operands;
    op.attributes = attributes;
    if (result != nullptr) op.results = {Value(result)};
    const int value = op.results.empty() ? -1 : op.results[0];
    module_.top.operations.push_back(std::move(op));
    return value;
  }
  int Load(const Type* type) {
    return Op("vector.load",
              {Value(Array(Type::Kind::kMemRef, type->dims, type->element))},
              type);
  }
  void Store(int value) {
    const Type* type = module_.values[value];
    Op("tpu.vector_store",
       {value, Value(Array(Type::Kind::kMemRef, type->dims, type->element))},
       nullptr);
  }
  // Of the maximum along the last of two dimensions.
  int RowMaximum(int value) {
    Attribute dims, kind, all;
    dims.kind = Attribute::Kind::kIntegers;
    dims.integers = {1};
    kind.kind = Attribute::Kind::kText;
    kind.text = "#vector.kind<maximumf>";
    all.kind = Attribute::Kind::kDictionary;
    all.names = {"reduction_dims", "kind"};
    all.elements = {Keep(dims), Keep(kind)};
    const Type* from = module_.values[value];
    return Op("vector.multi_reduction", {value},
              Vector({from->dims[0]}, from->element), Keep(all));
  }

  // Cycles; `used_` has the instructions.
  int64_t Schedule(const std::string& chip) {
    auto spec = chips::ChipSpec::Load(chip);
    EXPECT_OK(spec.status());
    model_ = isa::FromChipSpec(*spec);
    ElementwiseCosts costs(model_);
    BlockSchedule schedule(module_, model_, &costs);
    for (const Operation& op : module_.top.operations) schedule.Add(op);
    const int64_t cycles = schedule.Finish();
    EXPECT_TRUE(schedule.unknown().empty());
    used_ = schedule.instructions();
    return cycles;
  }
  int64_t Used(isa::Slot slot) const { return used_[static_cast<int>(slot)]; }

  std::deque<Attribute> attributes_;
  const Type* f32_ = Scalar("f32", 32);
  const Type* bf16_ = Scalar("bf16", 16);
  Module module_;
  isa::MachineModel model_;

 private:
  std::array<int64_t, isa::kNumSlots> used_{};
};

TEST_F(BlockScheduleTest, TwoRegistersAreRoundedByOneInstruction) {
  Store(Op("arith.truncf", {Load(Vector({128, 128}, f32_))},
           Vector({128, 128}, bf16_)));
  Schedule("v5e");
  EXPECT_EQ(Used(isa::Slot::kVector), 8);
  EXPECT_EQ(Used(isa::Slot::kStore), 8);
}

// libtpu 0.0.42.1 has 64 reciprocals in a softmax of 512 x 512, not 256.
TEST_F(BlockScheduleTest, ADivisionByARowsValueTakesOneReciprocalARow) {
  const Type* square = Vector({512, 512}, f32_);
  const int x = Load(square);
  const int column =
      Op("vector.shape_cast", {RowMaximum(x)}, Vector({512, 1}, f32_));
  const int rows = Op("vector.broadcast", {column}, square);
  Store(Op("arith.divf", {x, rows}, square));
  Schedule("v6e");
  EXPECT_EQ(Used(isa::Slot::kEup), 64);
}

// Of 512 x 512 libtpu 0.0.42.1 transposes 128 registers of pairs.
TEST_F(BlockScheduleTest, WhatIsRoundedBehindATransposeIsTransposedInPairs) {
  const Type* square = Vector({512, 512}, f32_);
  const int turned = Op("tpu.transpose", {Load(square)}, square);
  Store(Op("arith.truncf", {turned}, Vector({512, 512}, bf16_)));
  const int64_t cycles = Schedule("v5e");
  EXPECT_EQ(Used(isa::Slot::kPop), 128);
  EXPECT_LT(cycles, 700);
  Store(turned);
  EXPECT_GT(Schedule("v5e"), cycles);
  EXPECT_EQ(Used(isa::Slot::kPop), 256);
}

// Weights of a tile of 128 x 128, the latency, and the rows.
TEST_F(BlockScheduleTest, AProductWaitsForItsWeightsAndItsArray) {
  const Type* side = Vector({128, 128}, bf16_);
  const int lhs = Load(side), rhs = Load(side);
  Store(Op("tpu.matmul", {lhs, rhs}, Vector({128, 128}, f32_)));
  const int64_t cycles = Schedule("v6e");
  const int weights = 8 * model_.Interval(isa::IntervalKey::kPushBf16);
  EXPECT_GT(cycles, weights + model_.Latency(isa::LatencyKey::kMatmulBf16));
  EXPECT_LT(cycles,
            weights + model_.Latency(isa::LatencyKey::kMatmulBf16) + 64);
}

// Two products of one tile each go to two arrays; on the same one the second
// would wait for the first one's rows.
TEST_F(BlockScheduleTest, ProductsGoToTheArrayThatHasLessToDo) {
  const Type* side = Vector({1024, 128}, bf16_);
  const Type* weights = Vector({128, 128}, bf16_);
  const Type* out = Vector({1024, 128}, f32_);
  Store(Op("tpu.matmul", {Load(side), Load(weights)}, out));
  const int64_t one = Schedule("v6e");
  Store(Op("tpu.matmul", {Load(side), Load(weights)}, out));
  EXPECT_LT(Schedule("v6e"), one + 512);
}

TEST_F(BlockScheduleTest, TheSignInFrontOfAnExponentialIsFree) {
  const Type* square = Vector({128, 128}, f32_);
  const int x = Load(square);
  Store(Op("math.exp", {x}, square));
  Schedule("v6e");
  const int64_t alone = Used(isa::Slot::kVector);
  module_.top.operations.pop_back();
  module_.top.operations.pop_back();
  Store(Op("math.exp", {Op("arith.negf", {x}, square)}, square));
  Schedule("v6e");
  EXPECT_EQ(Used(isa::Slot::kVector), alone);
}

TEST_F(BlockScheduleTest, OneDividedByAValueTakesNoMultiplication) {
  const Type* square = Vector({128, 128}, f32_);
  Attribute bits, all;
  bits.kind = Attribute::Kind::kFloat;
  bits.integer = 0x3f800000;
  all.kind = Attribute::Kind::kDictionary;
  all.names = {"value"};
  all.elements = {Keep(bits)};
  const int one = Op("vector.broadcast",
                     {Op("arith.constant", {}, f32_, Keep(all))}, square);
  const int x = Load(square);
  Store(Op("arith.divf", {one, x}, square));
  Schedule("v6e");
  const int64_t inverse = Used(isa::Slot::kVector);
  Store(Op("arith.divf", {x, x}, square));
  Schedule("v6e");
  EXPECT_EQ(Used(isa::Slot::kVector), 2 * inverse + 16);
}

// 512 x 512 x 512 in libtpu 0.0.42.1: 1,172 bundles of bytes, 2,221 of bf16.
TEST_F(BlockScheduleTest, BytesPassTheArraysInHalfTheTime) {
  const Type* bytes = Vector({512, 512}, Scalar("i8", 8));
  Store(Op("tpu.matmul", {Load(bytes), Load(bytes)},
           Vector({512, 512}, Scalar("i32", 32))));
  const int64_t cycles = Schedule("v5e");
  module_.top.operations.clear();
  const Type* narrow = Vector({512, 512}, bf16_);
  Store(
      Op("tpu.matmul", {Load(narrow), Load(narrow)}, Vector({512, 512}, f32_)));
  EXPECT_LT(cycles * 10, Schedule("v5e") * 6);
}

// Columns of a product of several depths are complete one array's width after
// the other: the last stores are a quarter of them.
TEST_F(BlockScheduleTest, AProductsColumnsAreCompleteOneAfterAnother) {
  const Type* bytes = Vector({512, 512}, Scalar("i8", 8));
  Store(Op("tpu.matmul", {Load(bytes), Load(bytes)},
           Vector({512, 512}, Scalar("i32", 32))));
  EXPECT_LT(Schedule("v5e"), 1250);
}

TEST_F(BlockScheduleTest, AMaximumOfAllRowsComesBeforeWhatReadsIt) {
  const Type* square = Vector({128, 128}, f32_);
  const int x = Load(square);
  const int column =
      Op("vector.shape_cast", {RowMaximum(x)}, Vector({128, 1}, f32_));
  const int rows = Op("vector.broadcast", {column}, square);
  Store(Op("arith.subf", {x, rows}, square));
  const int64_t cycles = Schedule("v6e");
  const int latency = model_.Latency(isa::LatencyKey::kXluMax);
  EXPECT_GT(cycles, latency);
  EXPECT_LT(cycles, latency + 60);
}

}  // namespace
}  // namespace ptxla::lowering
