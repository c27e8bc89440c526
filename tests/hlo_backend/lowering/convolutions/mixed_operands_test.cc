// Do convolutions compute what HLO says where the features that whole K tiles
// leave share tiles, tap beside tap? And do they save what they are for?
#include <string>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

HarnessOptions OnMixed(const std::string& chip) {
  HarnessOptions options;
  options.chip = chip;
  options.low = -1;
  options.high = 1;
  options.absolute = 0.04;
  options.relative = 0.03;
  return options;
}

// 3x3, batch in rows.
std::string MixedText(const std::string& type, int64_t batch, int64_t features,
                      const std::string& padding) {
  return absl::Substitute(R"(
HloModule m
ENTRY e {
  x = $0[6,8,$1,$2] parameter(0)
  w = $0[3,3,$2,130] parameter(1)
  ROOT c = $0[$3,$1,130] convolution(x, w), window={size=3x3 pad=$4}, dim_labels=01bf_01io->01bf
})",
                          type, batch, features,
                          padding == "0_0x0_0" ? "4,6" : "6,8", padding);
}

TEST(MixedOperandsTest, RestsOfEverySizeEqualTheEvaluator) {
  for (const char* chip : {"v4", "v5e", "v5p", "v6e", "tpu7x"}) {
    for (const int64_t features : {129, 136, 160, 192, 320}) {
      for (const char* type : {"bf16", "f32"}) {
        for (const char* padding : {"0_0x0_0", "1_1x1_1"}) {
          EXPECT_OK(CompareKernel(MixedText(type, 16, features, padding),
                                  OnMixed(chip))
                        .status())
              << chip << " " << type << " " << features << " " << padding;
        }
      }
    }
  }
}

TEST(MixedOperandsTest, BatchesOfPartOfATile) {
  for (const int64_t batch : {1, 7, 8, 24}) {
    EXPECT_OK(
        CompareKernel(MixedText("bf16", batch, 160, "1_1x1_1"), OnMixed("v6e"))
            .status())
        << batch;
  }
}

// 160 features are 9 whole tiles and 5 shared ones: closer to 128 (9) than to
// 200, whose rest of 72 fills tiles of its own (18).
TEST(MixedOperandsTest, SharedTilesSaveTime) {
  const auto cycles = [](int64_t features) -> double {
    const auto result = CompareKernel(
        MixedText("bf16", 32, features, "1_1x1_1"), OnMixed("v5e"));
    EXPECT_OK(result.status());
    return result.ok() ? static_cast<double>(result->cycles) : 0;
  };
  EXPECT_LT(cycles(160), 0.9 * cycles(200));
  EXPECT_GT(cycles(160), cycles(128));
}

}  // namespace
}  // namespace ptxla::lowering
