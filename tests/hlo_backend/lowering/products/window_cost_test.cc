// Does the cost of a product's windows equal libtpu's own, and are the cheapest
// windows its? tests/data/product_windows.csv: windows and `estimated_cycles`
// of libtpu 0.0.42.1 for bf16 products, its block sizes in elements.
#include "hlo_backend/lowering/products/window_cost.h"

#include <cmath>
#include <map>
#include <string>
#include <vector>

#include "absl/strings/numbers.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/str_split.h"
#include "base/files.h"
#include "hlo_backend/lowering/products/ranked_windows.h"
#include "isa/from_chip_spec.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

struct Row {
  std::string chip, text;
  ProductProblem problem;
  ProductTile tile;
  double cycles = 0;
};

std::vector<Row> Rows() {
  std::vector<Row> rows;
  const auto file =
      ReadFile(PTXLA_SOURCE_DIR "/tests/data/product_windows.csv");
  EXPECT_OK(file.status());
  if (!file.ok()) return rows;
  const std::vector<std::string> lines = absl::StrSplit(*file, '\n');
  for (size_t n = 1; n < lines.size(); ++n) {
    const std::vector<std::string> cells = absl::StrSplit(lines[n], ',');
    if (cells.size() < 13) continue;
    std::vector<int64_t> v(cells.size());
    for (size_t c = 1; c < cells.size(); ++c) {
      EXPECT_TRUE(absl::SimpleAtoi(cells[c], &v[c])) << lines[n];
    }
    Row row;
    row.chip = cells[0];
    row.text = lines[n];
    row.problem.m = v[1];
    row.problem.n = v[2];
    row.problem.k = v[3];
    row.problem.lhs.resident = v[4] != 0;
    row.problem.rhs.resident = v[5] != 0;
    row.problem.out_bytes_per_element = 2;
    row.problem.narrow_results = 1;
    row.problem.half_registers = true;
    row.tile.grid_n = v[6];
    row.tile.grid_m = v[7];
    row.tile.grid_k = v[8];
    row.tile.block_m = v[9];
    row.tile.block_n = v[10];
    row.tile.block_k = v[11];
    row.tile.n_inner = v[6] == 1 || v[7] == 1;
    row.cycles = static_cast<double>(v[12]);
    rows.push_back(std::move(row));
  }
  return rows;
}

struct Machine {
  explicit Machine(const std::string& name)
      : chip(*chips::ChipSpec::Load(name)),
        model(isa::FromChipSpec(chip)),
        arrays(ArrayShapeOf(model, false)) {
    limits.windows = WindowRatesOf(chip);
    limits.cores = model.cores;
  }
  const chips::ChipSpec chip;
  const isa::MachineModel model;
  const ArrayShape arrays;
  ProductLimits limits;
};

TEST(WindowCostTest, EqualsTheTpuCompilersEstimates) {
  int near = 0, all = 0;
  for (const Row& row : Rows()) {
    const Machine m(row.chip);
    ASSERT_TRUE(m.limits.windows.has_value()) << row.chip;
    const std::optional<int64_t> cycles =
        WindowCost(row.problem, m.arrays, *m.limits.windows, m.limits.cores)
            .Of(row.tile);
    ASSERT_TRUE(cycles.has_value()) << row.text;
    const double off = static_cast<double>(*cycles) / row.cycles - 1;
    EXPECT_LT(std::abs(off), 0.03) << row.text << ": " << *cycles;
    near += std::abs(off) < 0.001;
    ++all;
  }
  EXPECT_GT(all, 200);
  EXPECT_GE(near, 0.95 * all) << near << " of " << all;
}

// libtpu 0.0.42.1 on v6e: [m,k] made of so many bf16 arrays, times [k,n] in
// VMEM; the grid and the estimate of its windows.
struct Computed {
  int64_t m, k, n, arrays, grid_n, grid_m, grid_k, block_m, block_n, block_k;
  double cycles;
};

TEST(WindowCostTest, ComputedOperandsAreLoadedAsWhatTheyAreMadeOf) {
  const Machine m("v6e");
  for (const Computed& c : std::vector<Computed>{
           {4096, 2048, 8192, 1, 2, 12, 1, 344, 4096, 2048, 344120},
           {4096, 2048, 8192, 2, 2, 14, 1, 296, 4096, 2048, 393004},
           {4096, 2048, 8192, 3, 2, 16, 1, 256, 4096, 2048, 437408},
           {8192, 1024, 1024, 2, 1, 5, 1, 1640, 1024, 1024, 113789},
           {8192, 1024, 1024, 3, 1, 4, 2, 2048, 1024, 512, 133732},
           {2048, 4096, 1024, 1, 1, 3, 1, 688, 1024, 4096, 53543}}) {
    ProductProblem p;
    p.m = c.m;
    p.k = c.k;
    p.n = c.n;
    p.lhs.computed = true;
    p.lhs.bytes_per_element = 2 * c.arrays;
    p.lhs.operations = 1;
    p.rhs.resident = true;
    p.out_bytes_per_element = 2;
    p.narrow_results = 1;
    p.half_registers = true;
    ProductTile t;
    t.grid_n = c.grid_n;
    t.grid_m = c.grid_m;
    t.grid_k = c.grid_k;
    t.block_m = c.block_m;
    t.block_n = c.block_n;
    t.block_k = c.block_k;
    t.n_inner = c.grid_n == 1;
    const auto cycles = WindowCost(p, m.arrays, *m.limits.windows, 1).Of(t);
    ASSERT_TRUE(cycles.has_value()) << c.m << " of " << c.arrays;
    EXPECT_NEAR(static_cast<double>(*cycles) / c.cycles, 1, 0.005)
        << c.m << " of " << c.arrays;
  }
}

// Whole columns are worth more than small blocks: nothing is computed twice.
TEST(RankedWindowsTest, VectorWorkOfAnOperandIsNotDoneAgainForEachColumn) {
  const Machine m("v6e");
  ProductProblem p;
  p.m = 4096;
  p.n = 2048;
  p.k = 5632;
  p.lhs.computed = true;
  p.lhs.resident = true;
  p.out_bytes_per_element = 2;
  p.narrow_results = 1;
  p.half_registers = true;
  p.lhs.operations = 1;
  const auto light = RankedWindows(p, m.arrays, m.limits, {16, {1}});
  p.lhs.operations = 60;  // an error function
  const auto heavy = RankedWindows(p, m.arrays, m.limits, {16, {1}});
  ASSERT_FALSE(light.empty());
  ASSERT_FALSE(heavy.empty());
  EXPECT_GT(light[0].tile.grid_n, 1);
  EXPECT_EQ(heavy[0].tile.grid_n, 1);
}

TEST(RankedWindowsTest, TheCheapestAreTheTpuCompilers) {
  std::map<std::string, std::pair<int, int>> same;  // of a chip, and all
  for (const Row& row : Rows()) {
    const Machine m(row.chip);
    const std::vector<RankedWindow> windows =
        RankedWindows(row.problem, m.arrays, m.limits, {16, {1}});
    ASSERT_FALSE(windows.empty()) << row.text;
    const ProductTile& best = windows.front().tile;
    const bool equal = best.grid_n == row.tile.grid_n &&
                       best.grid_m == row.tile.grid_m &&
                       best.grid_k == row.tile.grid_k;
    same[row.chip].first += equal;
    ++same[row.chip].second;
  }
  for (const auto& [chip, counts] : same) {
    EXPECT_GE(counts.first, 0.95 * counts.second)
        << chip << ": " << counts.first << " of " << counts.second;
  }
}

// The rule needs numbers of the chip.
TEST(RankedWindowsTest, ChipsWhoseCompilerChoosesOtherwiseHaveNoRates) {
  for (const char* chip : {"v2", "v3", "v4"}) {
    EXPECT_FALSE(WindowRatesOf(*chips::ChipSpec::Load(chip)).has_value());
  }
}

TEST(RankedWindowsTest, BlocksEndWithinARegisterOnlyWhereTheyMay) {
  const Machine m("v6e");
  ProductProblem p;
  p.m = 16384;
  p.n = p.k = 2048;
  p.lhs.resident = true;
  p.out_bytes_per_element = 2;
  p.narrow_results = 1;
  for (const bool half : {true, false}) {
    p.half_registers = half;
    const auto windows = RankedWindows(p, m.arrays, m.limits, {16, {1}});
    ASSERT_FALSE(windows.empty());
    EXPECT_EQ(windows[0].tile.block_m, half ? 1640 : 1648);
    EXPECT_EQ(windows[0].tile.grid_m, 10);
  }
}

// Rows that are read with values of their own come by 128, unless one step has
// all of them.
TEST(RankedWindowsTest, OneBlockOfFewRowsIsNotPaddedToWhatSeveralNeed) {
  const Machine m("v5e");
  ProductProblem p;
  p.m = 40;
  p.n = 4096;
  p.k = 2048;
  p.out_bytes_per_element = 2;
  p.narrow_results = 1;
  const auto windows = RankedWindows(p, m.arrays, m.limits, {128, {1}});
  ASSERT_FALSE(windows.empty());
  EXPECT_EQ(windows[0].tile.block_m, 48);
}

// bf16 is written as f32 first: two such results cost as much as six bytes
// each.
TEST(WindowCostTest, EveryNarrowResultIsWrittenAsF32First) {
  const Machine m("v6e");
  ProductProblem p;
  p.m = p.n = p.k = 1024;
  p.lhs.resident = p.rhs.resident = true;
  ProductTile tile;
  tile.block_m = tile.block_n = tile.block_k = 1024;
  const auto cost = [&](int64_t bytes, int narrow) {
    p.out_bytes_per_element = bytes;
    p.narrow_results = narrow;
    return *WindowCost(p, m.arrays, *m.limits.windows, 1).Of(tile);
  };
  const double byte = 1024 * 1024 / m.limits.windows->bytes_per_cycle;
  EXPECT_NEAR(cost(2, 1) - cost(4, 0), 2 * byte, 2);
  EXPECT_NEAR(cost(4, 2) - cost(4, 0), 8 * byte, 2);
}

}  // namespace
}  // namespace ptxla::lowering
