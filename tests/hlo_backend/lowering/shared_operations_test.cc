// What several values of a kernel are made of is made once, and masks that are
// read and wanted as numbers stay numbers. Counts are the TPU compiler's
// (libtpu 0.0.42.1, 1 M elements).
#include <gtest/gtest.h>

#include <map>
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/vector_operations.h"

namespace ptxla::lowering {
namespace {

constexpr const char* kSharingChips[] = {"v2",  "v3",  "v4",    "v5e",
                                         "v5p", "v6e", "tpu7x", "unit"};

std::string SineAndCosine(absl::string_view type, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
f {
  x = $0[$1] parameter(0)
  s = $0[$1] sine(x)
  c = $0[$1] cosine(x)
  ROOT r = ($0[$1], $0[$1]) tuple(s, c)
}
ENTRY e {
  x = $0[$1] parameter(0)
  ROOT r = ($0[$1], $0[$1]) fusion(x), kind=kLoop, calls=f
})",
                          type, dims);
}

TEST(SharedOperationsTest, SinesBesideCosinesAreTheEvaluators) {
  for (const char* chip : kSharingChips) {
    for (const char* dims : {"1", "1000", "7,129", "40,300"}) {
      HarnessOptions options;
      options.chip = chip;
      options.low = -2000;
      options.high = 2000;
      EXPECT_OK(CompareKernel(SineAndCosine("f32", dims), options))
          << chip << " " << dims;
      EXPECT_OK(CompareKernel(SineAndCosine("bf16", dims), options))
          << chip << " " << dims;
    }
  }
}

TEST(SharedOperationsTest, ASineAndACosineReduceTheirAngleOnce) {
  const std::map<std::string, double> theirs = {{"v5e", 156}, {"v6e", 105}};
  for (const auto& [chip, count] : theirs) {
    EXPECT_NEAR(
        VectorOperations(SineAndCosine("f32", "1048576"), chip, 1 << 20), count,
        0.12 * count)
        << chip;
  }
}

struct Case {
  const char *formula, *to;
  double theirs;  // v5e and v6e
};

const std::vector<Case>& MaskCases() {
  static const auto& cases = *new std::vector<Case>{
      {"convert(x)", "f32", 2},
      {"convert(x)", "s32", 1},
      {"and(x, y)", "pred", 5},
      {"xor(x, y)", "pred", 5},
      {"not(x)", "pred", 4},
      {"select(x, y, x)", "pred", -1},
      {"compare(x, y), direction=LT", "pred", -1},
  };
  return cases;
}

std::string OfMasks(const Case& c, absl::string_view dims) {
  return absl::Substitute(R"(HloModule m
ENTRY e {
  x = pred[$0] parameter(0)
  y = pred[$0] parameter(1)
  ROOT r = $1[$0] $2
})",
                          dims, c.to, c.formula);
}

TEST(SharedOperationsTest, NumbersAndLogicOfStoredMasksAreTheEvaluators) {
  for (const char* chip : kSharingChips) {
    for (const Case& c : MaskCases()) {
      for (const char* dims : {"1", "1000", "7,129", "40,300"}) {
        HarnessOptions options;
        options.chip = chip;
        EXPECT_OK(CompareKernel(OfMasks(c, dims), options))
            << chip << " " << c.formula << " " << c.to << " " << dims;
      }
    }
  }
}

TEST(SharedOperationsTest, MasksThatAreReadAsNumbersStayNumbers) {
  for (const char* chip : {"v5e", "v6e"}) {
    for (const Case& c : MaskCases()) {
      if (c.theirs < 0) continue;
      EXPECT_NEAR(VectorOperations(OfMasks(c, "1048576"), chip, 1 << 20),
                  c.theirs, 0.1)
          << chip << " " << c.formula << " " << c.to;
    }
  }
}

// The mask of one row is read by every row.
TEST(SharedOperationsTest, AMaskThatIsSelectedByAndCountedHasBothForms) {
  for (const char* chip : kSharingChips) {
    HarnessOptions options;
    options.chip = chip;
    EXPECT_OK(CompareKernel(R"(HloModule m
f {
  m = pred[300] parameter(0)
  x = f32[40,300] parameter(1)
  w = pred[40,300] broadcast(m), dimensions={1}
  n = f32[40,300] convert(w)
  s = f32[40,300] select(w, x, n)
  k = pred[40,300] not(w)
  ROOT r = (f32[40,300], pred[40,300], f32[40,300]) tuple(s, k, n)
}
ENTRY e {
  m = pred[300] parameter(0)
  x = f32[40,300] parameter(1)
  ROOT r = (f32[40,300], pred[40,300], f32[40,300]) fusion(m, x), kind=kLoop, calls=f
})",
                            options))
        << chip;
  }
}

}  // namespace
}  // namespace ptxla::lowering
