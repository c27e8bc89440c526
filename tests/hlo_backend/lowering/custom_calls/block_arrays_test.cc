// Which arrays do products of a Pallas kernel go to, and which of them sum up?
#include <deque>
#include <string>
#include <utility>
#include <vector>

#include "chips/chip_spec.h"
#include "gtest/gtest.h"
#include "hlo_backend/lowering/custom_calls/block_schedule.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

using mosaic::Operation;
using mosaic::Type;

// On tpu7x: two arrays of 256 x 256.
class BlockArraysTest : public ::testing::Test {
 protected:
  BlockArraysTest() {
    f32_.kind = bf16_.kind = Type::Kind::kScalar;
    f32_.name = "f32";
    f32_.bits = 32;
    bf16_.name = "bf16";
    bf16_.bits = 16;
  }
  int Op(const std::string& name, const std::vector<int>& operands,
         const std::vector<int64_t>& dims, const Type* element) {
    Type type;
    type.kind = Type::Kind::kVector;
    type.dims = dims;
    type.element = element;
    Operation op;
    op.name = name;
    op.operands = operands;
    op.results = {static_cast<int>(module_.values.size())};
    module_.values.push_back(&types_.emplace_back(type));
    module_.top.operations.push_back(std::move(op));
    return module_.top.operations.back().results[0];
  }
  int Load(const std::vector<int64_t>& dims, const Type* element) {
    Type memory;
    memory.kind = Type::Kind::kMemRef;
    memory.dims = dims;
    memory.element = element;
    module_.values.push_back(&types_.emplace_back(memory));
    return Op("vector.load", {static_cast<int>(module_.values.size()) - 1},
              dims, element);
  }
  int Product(int64_t rows, int64_t depth, int64_t columns) {
    const int lhs = Load({rows, depth}, &bf16_);
    const int rhs = Load({depth, columns}, &bf16_);
    return Op("tpu.matmul", {lhs, rhs}, {rows, columns}, &f32_);
  }
  // A sum that the kernel keeps, 512 rows, and a product 512 deep.
  int64_t PopsOfASum(int64_t columns, bool sum_first) {
    module_.top.operations.clear();
    const int sum = Load({512, columns}, &f32_);
    const int product = Product(512, 512, columns);
    Store(sum_first ? Op("arith.addf", {sum, product}, {512, columns}, &f32_)
                    : Op("arith.addf", {product, sum}, {512, columns}, &f32_));
    Schedule(/*sums_in_arrays=*/true);
    return pops_;
  }
  void Store(int value) {
    Type memory = *module_.values[value];
    memory.kind = Type::Kind::kMemRef;
    module_.values.push_back(&types_.emplace_back(memory));
    Operation op;
    op.name = "tpu.vector_store";
    op.operands = {value, static_cast<int>(module_.values.size()) - 1};
    module_.top.operations.push_back(std::move(op));
  }
  int64_t Schedule(bool sums_in_arrays) {
    auto spec = chips::ChipSpec::Load("tpu7x");
    EXPECT_OK(spec.status());
    const isa::MachineModel model = isa::FromChipSpec(*spec);
    ElementwiseCosts costs(model);
    BlockRules rules;
    rules.sums_in_arrays = sums_in_arrays;
    BlockSchedule schedule(module_, model, &costs, rules);
    for (const Operation& op : module_.top.operations) schedule.Add(op);
    const int64_t cycles = schedule.Finish();
    pops_ = schedule.instructions()[static_cast<int>(isa::Slot::kPop)];
    return cycles;
  }

  Type f32_, bf16_;
  std::deque<Type> types_;
  mosaic::Module module_;
  int64_t pops_ = 0;
};

TEST_F(BlockArraysTest, AnArrayThatSumsGivesTheSumAlone) {
  Store(Product(512, 512, 256));
  Schedule(/*sums_in_arrays=*/false);
  const int64_t apart = pops_;
  Schedule(/*sums_in_arrays=*/true);
  EXPECT_EQ(apart, 2 * pops_);
}

// Rows of both depths pass one array one after the other.
TEST_F(BlockArraysTest, DepthsOfASumAreOfOneArray) {
  Store(Product(512, 512, 256));
  const int64_t apart = Schedule(/*sums_in_arrays=*/false);
  EXPECT_GT(Schedule(/*sums_in_arrays=*/true), apart + 200);
}

// libtpu 0.0.42.1: forward attention 512 deep with heads of 128 (splash, not
// flash, which scales the product first) and of 256; backward both.
TEST_F(BlockArraysTest, WhatIsAddedToASumStaysApartInHalfAnArray) {
  EXPECT_EQ(PopsOfASum(128, /*sum_first=*/true), 128);
  EXPECT_EQ(PopsOfASum(128, /*sum_first=*/false), 64);
  EXPECT_EQ(PopsOfASum(256, /*sum_first=*/true), 128);
}

// Two tiles of one depth, then one tile of two: two jobs each, not three.
TEST_F(BlockArraysTest, TheLastSumChoosesItsArrayFirst) {
  Store(Product(512, 128, 512));
  const int64_t alone = Schedule(/*sums_in_arrays=*/true);
  Store(Product(512, 512, 256));
  EXPECT_LT(Schedule(/*sums_in_arrays=*/true), alone + 320);
}

}  // namespace
}  // namespace ptxla::lowering
