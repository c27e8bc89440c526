// What is fused behind a convolution: against the evaluator.
#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_join.h"
#include "absl/strings/substitute.h"
#include "tests/hlo_backend/lowering/bundle_harness.h"
#include "tests/hlo_backend/lowering/convolutions/convolution_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

// What batch norm, a residual and an activation leave behind a convolution.
TEST(ConvolutionEpilogueTest, AnEpilogueIsFused) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e", "tpu7x"}) {
    for (const char* out : {"f32", "bf16"}) {
      const std::string hlo = absl::StrCat(
          R"(
HloModule m
fused {
  x = bf16[9,10,12,64] parameter(0)
  w = f32[3,3,64,200] parameter(1)
  wb = bf16[3,3,64,200] convert(w)
  bias = f32[200] parameter(2)
  skip = bf16[9,10,12,200] parameter(3)
  c = f32[9,10,12,200] convolution(x, wb), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
  rows = f32[9,10,12,200] broadcast(bias), dimensions={3}
  z = f32[9,10,12,200] multiply(c, rows)
  s = f32[9,10,12,200] convert(skip)
  y = f32[9,10,12,200] add(z, s)
  zero = f32[] constant(0)
  zeros = f32[9,10,12,200] broadcast(zero), dimensions={}
  r = f32[9,10,12,200] maximum(y, zeros)
  ROOT t = )",
          out, R"([9,10,12,200] convert(r)
}
ENTRY e {
  x = bf16[9,10,12,64] parameter(0)
  w = f32[3,3,64,200] parameter(1)
  bias = f32[200] parameter(2)
  skip = bf16[9,10,12,200] parameter(3)
  ROOT f = )",
          out,
          R"([9,10,12,200] fusion(x, w, bias, skip), kind=kOutput, calls=fused
})");
      EXPECT_OK(CompareKernel(hlo, On(chip)).status()) << chip;
    }
  }
}

// Its planes are rows of the product, one tile high each, however few rows
// they have.
TEST(ConvolutionEpilogueTest, AResidualInVmemIsReadFromEveryPlane) {
  for (const char* chip : {"v2", "v4", "v5e", "v6e"}) {
    for (const auto& [type, rows] : {std::pair{"f32", 8},
                                     {"bf16", 8},
                                     {"f32", 3},
                                     {"bf16", 3},
                                     {"bf16", 2},
                                     {"f16", 3}}) {
      const std::string hlo = absl::Substitute(R"(
HloModule m
fused {
  x = bf16[6,7,$1,64] parameter(0)
  w = bf16[3,3,64,128] parameter(1)
  skip = $0[6,7,$1,128] parameter(2)
  c = f32[6,7,$1,128] convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=01bf_01io->01bf
  s = f32[6,7,$1,128] convert(skip)
  y = f32[6,7,$1,128] add(c, s)
  ROOT t = $0[6,7,$1,128] convert(y)
}
ENTRY e {
  x = bf16[6,7,$1,64] parameter(0)
  w = bf16[3,3,64,128] parameter(1)
  skip = $0[6,7,$1,128] parameter(2)
  ROOT f = $0[6,7,$1,128] fusion(x, w, skip), kind=kOutput, calls=fused
})",
                                               type, rows);
      for (const std::vector<int>& in_vmem :
           {std::vector<int>{}, {2}, {3}, {2, 3}}) {
        HarnessOptions options = On(chip);
        options.in_vmem = in_vmem;
        EXPECT_OK(CompareKernel(hlo, options).status())
            << chip << type << rows << " rows, " << absl::StrJoin(in_vmem, ",");
      }
    }
  }
}

}  // namespace
}  // namespace ptxla::lowering
