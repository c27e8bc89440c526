#include <gtest/gtest.h>

#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

TEST(UpdateSliceTest, RowsAndPlanesGoWhereTheirClampedStartSays) {
  for (const char* update : {"8,1,200", "2,40,200", "1,1,200"}) {
    for (int seed = 1; seed < 4; ++seed) {
      HarnessOptions options;
      options.seed = seed;
      options.low = -3;
      options.high = 45;
      EXPECT_OK(CompareKernel(absl::Substitute(R"(HloModule m
ENTRY e {
  a = f32[8,40,200] parameter(0)
  u = f32[$0] parameter(1)
  x = s32[] parameter(2)
  y = s32[] parameter(3)
  z = s32[] parameter(4)
  ROOT r = f32[8,40,200] dynamic-update-slice(a, u, x, y, z)
})",
                                               update),
                              options)
                    .status())
          << update;
    }
  }
}

// Tiles that the update shares with what stays: of every type, in HBM and VMEM.
TEST(UpdateSliceTest, AnUpdateMayEndInsideOfTiles) {
  for (const char* type : {"f32", "bf16", "u8"}) {
    for (const auto& [to, update, rank] :
         std::vector<std::tuple<const char*, const char*, int>>{
             {"8,40,200", "2,1,200", 3},
             {"8,40,200", "8,7,200", 3},
             {"8,40,200", "3,5,17", 3},
             {"8,40,300", "8,40,150", 3},
             {"6,3,70,130", "6,3,1,130", 4},
             {"40,300", "33,1", 2},
             {"4,8", "4,1", 2},
             {"2000", "300", 1}}) {
      for (int seed = 1; seed < 4; ++seed) {
        HarnessOptions options;
        options.chip = seed == 3 ? "v3" : "v5e";
        options.seed = seed;
        options.low = type[0] == 'u' ? 0 : -3;
        options.high = 45;
        std::string hlo = absl::Substitute(
            "HloModule m\nENTRY e {\n  a = $0[$1] parameter(0)\n"
            "  u = $0[$2] parameter(1)\n",
            type, to, update);
        std::string starts;
        for (int k = 0; k < rank; ++k) {
          hlo += absl::Substitute("  s$0 = s32[] parameter($1)\n", k, k + 2);
          starts += absl::Substitute(", s$0", k);
        }
        hlo += absl::Substitute(
            "  ROOT r = $0[$1] dynamic-update-slice(a, u$2)\n}", type, to,
            starts);
        EXPECT_OK(CompareKernel(hlo, options).status()) << hlo;
        options.in_vmem = {1};
        EXPECT_OK(CompareKernel(hlo, options).status()) << "VMEM " << hlo;
      }
    }
  }
}

// Planes of an update that do not fit VMEM are written by parts of their rows,
// wherever they begin.
TEST(UpdateSliceTest, PlanesThatDoNotFitAreCutAlongTheirRows) {
  for (const auto& [type, update] :
       {std::pair{"f32", "1024,2600"}, {"bf16", "1,1536,4000"}}) {
    HarnessOptions options;
    options.chip = "v2";
    options.low = -3;
    options.high = 700;
    const bool planes = type[0] == 'b';
    const auto result = CompareKernel(
        absl::Substitute(R"(HloModule m
ENTRY e {
  a = $0[$1] parameter(0)
  u = $0[$2] parameter(1)
  x = s32[] parameter(2)
  y = s32[] parameter(3)
  z = s32[] parameter(4)
  ROOT r = $0[$1] dynamic-update-slice(a, u, $3)
})",
                         type, planes ? "3,2048,4096" : "2048,4096", update,
                         planes ? "x, y, z" : "x, y"),
        options);
    EXPECT_OK(result.status()) << type << update;
    EXPECT_TRUE(!result.ok() || result->kernel.NumSteps() > 1);
  }
}

// Steps follow one another: each waits for HBM's latency.
TEST(UpdateSliceTest, StepsAreLongBesideTheLatencyOfTheirTransfers) {
  HarnessOptions options;
  options.chip = "v5e";
  const auto kernel = KernelOf(R"(HloModule m
ENTRY e {
  a = bf16[8,4096,4096] parameter(0)
  u = bf16[8,2048,4096] parameter(1)
  z = s32[] constant(0)
  d = s32[] parameter(2)
  ROOT r = bf16[8,4096,4096] dynamic-update-slice(a, u, z, d, z)
})",
                               options);
  ASSERT_OK(kernel.status());
  for (const isa::DmaDescriptor& d : kernel->descriptors) {
    EXPECT_GE(d.Bytes(), int64_t{1} << 21);
  }
}

}  // namespace
}  // namespace ptxla::lowering
