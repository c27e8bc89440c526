// Does the tile search keep within the machine, and near its peak?
#include "hlo_backend/lowering/products/product_tiling.h"

#include <random>

#include "chips/chip_spec.h"
#include "chips/compiler_policy.h"
#include "hlo_backend/lowering/products/product_visits.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Machine {
  isa::MachineModel model;
  ProductLimits limits;
};

Machine MachineOf(const std::string& name) {
  const chips::ChipSpec chip = *chips::ChipSpec::Load(name);
  Machine m{isa::FromChipSpec(chip), {}};
  m.limits.vmem_bytes = chip.vmem().scoped_limit.count();
  m.limits.step_bundles = chips::ProductStepBundles(chip);
  m.limits.hbm_bytes_per_cycle = chip.hbm_bandwidth_per_device().count() /
                                 chip.core().clock.frequency().count();
  return m;
}

ProductProblem Square(int64_t size) {
  ProductProblem p;
  p.m = p.n = p.k = size;
  p.out_bytes_per_element = 2;
  return p;
}

// Cycles that the multiplications alone take on all MXUs.
int64_t FloorCycles(const ProductProblem& p, const ArrayShape& a) {
  const double per_cycle =
      static_cast<double>(a.rows) * a.size * a.size / a.interval * a.mxus;
  return static_cast<int64_t>(static_cast<double>(p.batch) * p.m * p.n * p.k /
                              per_cycle);
}

class ProductTilingTest : public ::testing::TestWithParam<const char*> {};

TEST_P(ProductTilingTest, AStepOfALargeProductIsNearlyAllMatmul) {
  const Machine m = MachineOf(GetParam());
  const ProductProblem p = Square(4096);
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ASSERT_OK_AND_ASSIGN(const ProductTiling t,
                       ChooseProductTile(p, a, m.model, m.limits));
  const int64_t bundles = t.cost.step_bundles * t.tile.Steps();
  EXPECT_LT(bundles, 1.12 * FloorCycles(p, a)) << t.tile.ToString();
}

TEST_P(ProductTilingTest, NoTileIsFasterThanTheMachineOrLargerThanItsMemory) {
  const Machine m = MachineOf(GetParam());
  std::mt19937 random(7);
  std::uniform_int_distribution<int64_t> size(1, 3000);
  for (int i = 0; i < 50; ++i) {
    ProductProblem p;
    p.m = size(random);
    p.n = size(random);
    p.k = size(random);
    p.rhs.transposed = i % 2 == 0;
    p.lhs.transposed = i % 3 == 0;
    const ArrayShape a = ArrayShapeOf(m.model, p.rhs.transposed);
    ASSERT_OK_AND_ASSIGN(const ProductTiling t,
                         ChooseProductTile(p, a, m.model, m.limits));
    EXPECT_GE(t.cost.cycles, FloorCycles(p, a)) << t.tile.ToString();
    EXPECT_LE(t.cost.vmem_bytes, m.limits.vmem_bytes);
    EXPECT_LE(t.cost.step_bundles, m.limits.step_bundles);
    EXPECT_GE(t.tile.block_m * t.tile.grid_m, p.m);
    EXPECT_GE(t.tile.block_n * t.tile.grid_n, p.n);
    EXPECT_GE(t.tile.block_k * t.tile.grid_k, p.k);
    EXPECT_LT(t.tile.block_k * (t.tile.grid_k - 1), p.k);
  }
}

// Where the MXU takes no bf16 (v2, v3) the transposed LHS lies in VMEM as f32.
TEST_P(ProductTilingTest, ATransposedLhsIsAsWideAsTheMxuTakesIt) {
  const Machine m = MachineOf(GetParam());
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(512);
  ProductTile tile;
  tile.block_m = tile.block_n = tile.block_k = 512;
  const int64_t straight = CostOf(p, tile, a, m.model, m.limits).vmem_bytes;
  p.lhs.transposed = true;
  EXPECT_EQ(CostOf(p, tile, a, m.model, m.limits).vmem_bytes - straight,
            512 * 512 * (a.bf16 ? 2 : 4));
}

// Each step waits for what it fetches, at the rate that both cores share.
TEST_P(ProductTilingTest, TwoCoresFetchAtTheRateOfOneMemory) {
  Machine m = MachineOf(GetParam());
  m.limits.cores = 2;
  m.limits.hbm_latency_cycles = 100'000;
  m.limits.hbm_bytes_per_cycle = 40;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(2048);
  ProductTile tile;
  tile.grid_m = 2, tile.grid_k = 16;
  tile.block_m = 1024, tile.block_n = 2048, tile.block_k = 128;
  const ProductCost c = CostOf(p, tile, a, m.model, m.limits);
  const int64_t fetched = c.hbm_bytes - p.m * p.n * p.out_bytes_per_element;
  EXPECT_GE(c.cycles - c.exposed,
            16 * m.limits.hbm_latency_cycles + fetched / 40);
}

TEST_P(ProductTilingTest, MoreBandwidthIsNeverSlower) {
  Machine m = MachineOf(GetParam());
  for (int64_t size : {256, 1000, 2048}) {
    const ProductProblem p = Square(size);
    const ArrayShape a = ArrayShapeOf(m.model, false);
    m.limits.hbm_bytes_per_cycle = 300;
    ASSERT_OK_AND_ASSIGN(const ProductTiling slow,
                         ChooseProductTile(p, a, m.model, m.limits));
    m.limits.hbm_bytes_per_cycle = 900;
    ASSERT_OK_AND_ASSIGN(const ProductTiling fast,
                         ChooseProductTile(p, a, m.model, m.limits));
    EXPECT_LE(fast.cost.cycles, slow.cost.cycles);
  }
}

INSTANTIATE_TEST_SUITE_P(Chips, ProductTilingTest,
                         ::testing::Values("v3", "v4", "v5e", "v5p", "v6e"));

// The XLUs of v4 turn this block for as long as its matmuls take.
TEST(ProductCostTest, ValuesPerRowOfTheWeightsTakeXluTimeBesideTurns) {
  const Machine m = MachineOf("v4");
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(2048);
  p.lhs.transposed = true;
  ProductTile tile;
  tile.block_m = 1024, tile.block_n = 256, tile.block_k = 2048;
  tile.split_n = tile.split_m = 2;
  const ProductCost loaded = CostOf(p, tile, a, m.model, m.limits);
  p.rhs.row_entries = 3;
  const ProductCost computed = CostOf(p, tile, a, m.model, m.limits);
  EXPECT_GT(computed.step_bundles, loaded.step_bundles + 1000);
}

// All columns are one block: the weights stay, though "n" is walked inside.
TEST(ProductCostTest, AnOperandOfOneBlockIsFetchedOnce) {
  const Machine m = MachineOf("v5p");
  const ArrayShape a = ArrayShapeOf(m.model, false);
  const ProductProblem p = Square(2048);
  ProductTile tile;
  tile.grid_m = 8;
  tile.block_m = 256, tile.block_n = 2048, tile.block_k = 2048;
  tile.n_inner = true;
  EXPECT_EQ(CostOf(p, tile, a, m.model, m.limits).hbm_bytes,
            3 * 2048 * 2048 * 2);
}

// The gradient of a narrow layer: 64 rows in 128 lanes.
TEST(ProductCostTest, RowsInLanesComeInWholeTiles) {
  const Machine m = MachineOf("v5e");
  ProductProblem p = Square(256);
  p.lhs.transposed = true;
  ProductTile t;
  t.block_m = 128;
  t.block_n = 256;
  t.block_k = 256;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  const auto read = [&](int64_t rows) {
    p.m = t.block_m = rows;
    return CostOf(p, t, a, m.model, m.limits).hbm_bytes - rows * 256 * 2;
  };
  EXPECT_EQ(read(64), read(128));
}

// A member's scores are stored while the next one's operands are fetched: in
// steps of 2 members that is as long as the request, in steps of 8 it hides it.
TEST(ProductCostTest, FetchesWaitBesideTheStoresOfTheStepBefore) {
  Machine m = MachineOf("v5p");
  m.limits.hbm_bytes_per_cycle = 500;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(256);
  p.batch = 512;
  p.k = 64;
  const auto cycles_of = [&](int64_t members) {
    ProductTile tile;
    tile.block_b = members;
    tile.grid_b = p.batch / members;
    tile.block_m = tile.block_n = 256, tile.block_k = 128;
    return CostOf(p, tile, a, m.model, m.limits);
  };
  const ProductCost few = cycles_of(2), many = cycles_of(8);
  EXPECT_GE(few.cycles - few.exposed,
            256 * m.limits.hbm_latency_cycles +
                static_cast<int64_t>(static_cast<double>(few.hbm_bytes) /
                                     m.limits.hbm_bytes_per_cycle));
  EXPECT_LT(many.cycles, 0.7 * few.cycles);
}

// As libtpu's windows of 2 x 352 x 2,048: blocks of 128 columns are runs of
// 2 KiB, and both tiles are bound by HBM.
TEST(ProductCostTest, StepsOfBatchedProductsHoldWholeRows) {
  Machine m = MachineOf("v5e");
  m.limits.hbm_bytes_per_cycle = 100;
  m.limits.hbm_block_half = 136;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(2048);
  p.batch = 32;
  p.k = 128;
  p.lhs.resident = p.rhs.resident = true;
  const auto cost_of = [&](int64_t rows, int64_t columns) {
    ProductTile tile;
    tile.grid_b = 32;
    tile.block_m = rows, tile.grid_m = 2048 / rows;
    tile.block_n = columns, tile.grid_n = 2048 / columns;
    return CostOf(p, tile, a, m.model, m.limits).choice;
  };
  EXPECT_GT(cost_of(2048, 128), 1.05 * cost_of(128, 2048));
}

// Runs of numbers of 4 bits are those of their tiles, of 64 rows.
TEST(ProductCostTest, RunsOfNarrowNumbersAreAsLongAsTheirTiles) {
  Machine m = MachineOf("v5e");
  m.limits.hbm_block_half = 136;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductProblem p = Square(512);
  p.batch = 4;
  p.out_bytes_per_element = 4;
  ProductTile tile;
  tile.grid_b = 4, tile.grid_n = 4;
  tile.block_m = 512, tile.block_n = 128, tile.block_k = 512;
  const auto first_of = [&](hlo::PrimitiveType type) {
    p.lhs.type = p.rhs.type = type;
    const ProductCost c = CostOf(p, tile, a, m.model, m.limits);
    return c.exposed;
  };
  const int64_t narrow = first_of(hlo::PrimitiveType::kS4);
  EXPECT_GT(narrow, 2 * m.limits.hbm_latency_cycles);
  EXPECT_LT(narrow, first_of(hlo::PrimitiveType::kS8));
}

// The first block of weights that stay would take as long as half the products.
TEST(ProductCostTest, BatchedProductsBeginWithASmallBlock) {
  Machine m = MachineOf("v5e");
  ProductProblem p = Square(512);
  p.batch = 16;
  p.lhs.resident = true;
  ASSERT_OK_AND_ASSIGN(
      const ProductTiling t,
      ChooseProductTile(p, ArrayShapeOf(m.model, false), m.model, m.limits));
  EXPECT_GE(t.tile.grid_b * t.tile.grid_n, 4) << t.tile.ToString();
}

TEST(ProductVisitsTest, NarrowOperandsOfAWideArrayAreBlockDiagonal) {
  const Machine m = MachineOf("v6e");
  const ArrayShape a = ArrayShapeOf(m.model, false);
  ProductTile tile;
  tile.split_m = 2;
  tile.block_m = 256;
  tile.block_k = 128;
  tile.block_n = 128;
  EXPECT_EQ(PlanVisits({}, tile, a).form, WeightForm::kTwoRows);
  EXPECT_EQ(PlanVisits({}, tile, a).rows, 32);
  tile.block_n = 256;
  EXPECT_EQ(PlanVisits({}, tile, a).form, WeightForm::kTwoColumns);
  tile.block_k = 256;
  EXPECT_EQ(PlanVisits({}, tile, a).form, WeightForm::kFull);
}

// Scores of an attention in chunks, whose maxima are made behind the product:
// with one step for all columns of a row no step is longer than the others.
TEST(ProductVisitsTest, TransposedWeightsArePushedUpToTheirLastColumn) {
  ArrayShape a;
  ProductTile tile;
  tile.block_n = tile.block_k = 128;
  ProductProblem p;
  p.n = 40;
  p.k = 128;
  EXPECT_EQ(PlanVisits(p, tile, a).pushes, 8);
  p.rhs.transposed = true;
  EXPECT_EQ(PlanVisits(p, tile, a).pushes, 3);
  p.n = tile.block_n = 256;
  EXPECT_EQ(PlanVisits(p, tile, a).pushes, 8);
}

TEST(ProductTilingTest, ShortRowsThatAreReducedComeInOneStep) {
  const Machine m = MachineOf("v6e");
  ProductProblem p;
  p.batch = 16;
  p.m = 4096;
  p.n = 512;
  p.k = 128;
  p.rhs.transposed = p.lhs.resident = p.rhs.resident = true;
  p.out_bytes_per_element = 4;
  p.epilogue_ops = 2;
  p.row_results = 1;
  p.rows_in_turn = true;
  const ArrayShape a = ArrayShapeOf(m.model, true);
  ASSERT_OK_AND_ASSIGN(const ProductTiling t,
                       ChooseProductTile(p, a, m.model, m.limits));
  EXPECT_EQ(t.tile.grid_n, 1) << t.tile.ToString();
}

TEST(ProductTilingTest, ARequestThatCannotFitIsRefused) {
  Machine m = MachineOf("v5e");
  m.limits.vmem_bytes = 1024;
  const ArrayShape a = ArrayShapeOf(m.model, false);
  EXPECT_THAT(
      ChooseProductTile(Square(512), a, m.model, m.limits),
      ::ptxla::testing::StatusIs(absl::StatusCode::kResourceExhausted,
                                 ::testing::HasSubstr("fits into 1024 bytes")));
}

}  // namespace
}  // namespace ptxla::lowering
