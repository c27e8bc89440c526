#include "hlo_backend/lowering/products/fastest_product.h"

#include <cstdint>
#include <vector>

#include "chips/topology.h"
#include "gtest/gtest.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// Kernels whose steps take twice what was expected, so that all choices would
// be tried; their choice is in the note.
struct Tries {
  std::vector<int64_t> cycles;  // by choice
  std::vector<size_t> made = {};

  isa::Kernel Fastest(const std::vector<int64_t>& least) {
    const chips::Slice slice = chips::ParseSlice("v6e-1").value();
    const EpiloguePace pace;
    const auto make = [&](const EpiloguePace&, size_t choice) {
      made.push_back(choice);
      ProductTrial trial;
      if (choice >= cycles.size()) return trial;
      isa::Kernel kernel;
      kernel.note = std::to_string(choice);
      trial.kernel = std::move(kernel);
      trial.step = trial.cycles = cycles[choice];
      trial.expected = trial.step / 2;
      return trial;
    };
    const auto bound = [&](size_t choice) {
      return choice < least.size() ? least[choice] : INT64_MAX;
    };
    return FastestProduct({&pace, 1}, slice.chip, make, bound).kernel.value();
  }
};

TEST(FastestProductTest, TilesThatMemoryKeepsSlowerAreNotTried) {
  Tries tries{{100, 100, 100}};
  EXPECT_EQ(tries.Fastest({100, 100, 110}).note, "0");
  EXPECT_EQ(tries.made, (std::vector<size_t>{0}));
}

TEST(FastestProductTest, AFasterChoiceBehindSlowerOnesIsFound) {
  Tries tries{{100, 120, 90}};
  EXPECT_EQ(tries.Fastest({80, 95, 85}).note, "2");
  EXPECT_EQ(tries.made, (std::vector<size_t>{0, 1, 2}));
}

TEST(FastestProductTest, OneThatCannotBeFasterIsLeftOut) {
  Tries tries{{100, 120, 90}};
  EXPECT_EQ(tries.Fastest({80, 110, 85}).note, "2");
  EXPECT_EQ(tries.made, (std::vector<size_t>{0, 2}));
}

}  // namespace
}  // namespace ptxla::lowering
