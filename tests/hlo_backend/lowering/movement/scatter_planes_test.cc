// Do kernels add whole planes where HLO says, wherever table and updates lie?
#include <string>
#include <vector>

#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::string AddPlanes(const char* type, int table, int updates,
                      const char* plane, const char* op = "add") {
  return absl::Substitute(R"(HloModule m
body {
  x = $0[] parameter(0)
  y = $0[] parameter(1)
  ROOT s = $0[] $4(x, y)
}
ENTRY e {
  table = $0[$1,$3] parameter(0)
  index = s32[$2] parameter(1)
  planes = $0[$2,$3] parameter(2)
  ROOT g = $0[$1,$3] scatter(table, index, planes), update_window_dims={1,2}, inserted_window_dims={0}, scatter_dims_to_operand_dims={0}, index_vector_dim=1, to_apply=body
})",
                          type, table, updates, plane, op);
}

HarnessOptions On(const char* chip, const std::vector<int>& in_vmem) {
  HarnessOptions options;
  options.chip = chip;
  options.in_vmem = in_vmem;
  options.low = -2;  // planes that do not exist are left out
  options.high = 6;
  // Sums of bf16 are rounded one by one.
  options.relative = 1e-5;
  return options;
}

TEST(ScatterPlanesTest, EqualNumbersMeetWhereverTheArraysLie) {
  for (const char* chip : {"v2", "v3", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* type : {"f32", "bf16", "s32"}) {
      for (const std::vector<int>& in_vmem :
           std::vector<std::vector<int>>{{}, {2}, {0, 3}, {0, 1, 2, 3}}) {
        for (const auto& text :
             {AddPlanes(type, 4, 70, "64,128"), AddPlanes(type, 5, 7, "16,129"),
              AddPlanes(type, 1, 9, "8,1000", "maximum")}) {
          EXPECT_OK(CompareKernel(text, On(chip, in_vmem)).status())
              << chip << in_vmem.size() << text;
        }
      }
    }
  }
}

TEST(ScatterPlanesTest, TablesLargerThanVmemAreAddedToInParts) {
  ASSERT_OK_AND_ASSIGN(const auto whole, chips::ChipSpec::Load("v6e"));
  ASSERT_OK_AND_ASSIGN(const auto spec,
                       whole.WithValue("vmem.scoped_limit", double{1 << 20}));
  for (const char* type : {"f32", "bf16"}) {
    HarnessOptions options = On("v6e", {});
    options.spec = &spec;
    ASSERT_OK_AND_ASSIGN(
        const HarnessResult r,
        CompareKernel(AddPlanes(type, 6, 13, "256,256"), options));
    EXPECT_GT(r.kernel.grid[0], 1) << type;
    EXPECT_LE(r.kernel.vmem_bytes, 1 << 20) << type;
  }
}

TEST(ScatterPlanesTest, ArraysInVmemAreNotCopied) {
  ASSERT_OK_AND_ASSIGN(
      const HarnessResult r,
      CompareKernel(AddPlanes("bf16", 4, 64, "64,128"), On("v5e", {0, 2, 3})));
  EXPECT_EQ(r.kernel.vmem_bytes, 0);
}

}  // namespace
}  // namespace ptxla::lowering
