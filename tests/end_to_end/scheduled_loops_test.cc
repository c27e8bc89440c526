// Loops as libtpu writes them into a schedule: what their control takes, and
// where kernels read what they count.
#include <string>

#include "absl/strings/str_cat.h"
#include "absl/strings/substitute.h"
#include "driver/prediction.h"
#include "tests/end_to_end/scheduled_entry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;

// Additions one after the other, as libtpu schedules the program of E-EW-0001.
std::string Additions(int count) {
  return absl::Substitute(R"(HloModule m, is_scheduled=true
body {
  one = s32[]{:T(128)} constant(1)
  s = (s32[]{:T(128)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, s32[]{:T(128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  next = s32[]{:T(128)} add(i, one)
  n = s32[]{:T(128)} get-tuple-element(s), index=3
  y = bf16[32768]{0:T(1024)(128)(2,1)S(1)} get-tuple-element(s), index=2
  x = bf16[32768]{0:T(1024)(128)(2,1)S(1)} get-tuple-element(s), index=1
  z = bf16[32768]{0:T(1024)(128)(2,1)S(1)} add(x, y)
  ROOT t = (s32[]{:T(128)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, s32[]{:T(128)}) tuple(next, z, y, n)
}
condition {
  n = s32[]{:T(128)} constant($0)
  s = (s32[]{:T(128)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, s32[]{:T(128)}) parameter(0)
  i = s32[]{:T(128)} get-tuple-element(s), index=0
  ROOT less = pred[]{:T(512)} compare(i, n), direction=LT
}
ENTRY e {
  x = bf16[32768]{0:T(1024)(128)(2,1)} parameter(0)
  y = bf16[32768]{0:T(1024)(128)(2,1)} parameter(1)
  zero = s32[]{:T(128)} constant(0)
  one = s32[]{:T(128)} constant(1)
  start = s32[]{:T(128)} copy(zero)
  a = bf16[32768]{0:T(1024)(128)(2,1)S(1)} copy(x)
  b = bf16[32768]{0:T(1024)(128)(2,1)S(1)} copy(y)
  t = (s32[]{:T(128)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, s32[]{:T(128)}) tuple(start, a, b, one)
  w = (s32[]{:T(128)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, bf16[32768]{0:T(1024)(128)(2,1)S(1)}, s32[]{:T(128)}) while(t), condition=condition, body=body
  z = bf16[32768]{0:T(1024)(128)(2,1)S(1)} get-tuple-element(w), index=1
  ROOT r = bf16[32768]{0:T(1024)(128)(2,1)} copy(z)
})",
                          count);
}

// One takes 53.5 ns, measured (E-EW-0001): there is no DMA in it.
TEST(ScheduledLoopsTest, AnIterationTakesHardlyLongerThanItsKernel) {
  const TemporaryFolder folder;
  double us[2];
  for (const int more : {0, 1}) {
    RunRequest request;
    request.topology = "v6e-1";
    request.assumed_effects = false;
    request.hlo = folder.Write(absl::StrCat(more, ".hlo"),
                               Additions(more == 1 ? 116 : 16));
    ASSERT_OK_AND_ASSIGN(const Prediction p, Predict(request));
    us[more] = static_cast<double>(p.record.device_time_ps()) / 1e6;
  }
  EXPECT_NEAR((us[1] - us[0]) / 100, 0.0535, 0.3 * 0.0535);
}

// A fusion that is taken apart: its slice begins where a scalar in SMEM says,
// a concatenation wants it as an array, for which there is one copy.
TEST(ScheduledLoopsTest, PartsReadScalarsInSmemOrACopy) {
  const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
slice {
  i = s32[]{:T(128)S(6)} parameter(0)
  x = f32[16,8,128]{2,1,0:T(8,128)} parameter(1)
  z = s32[]{:T(128)} constant(0)
  d = f32[1,8,128]{2,1,0:T(8,128)} dynamic-slice(x, i, z, z), dynamic_slice_sizes={1,8,128}
  b = f32[8,128]{1,0:T(8,128)} bitcast(d)
  ROOT n = f32[8,128]{1,0:T(8,128)} negate(b)
}
append {
  i = s32[]{:T(128)S(6)} parameter(0)
  y = s32[8]{0:T(128)} parameter(1)
  r = s32[1]{0:T(128)} reshape(i)
  ROOT c = s32[9]{0:T(128)} concatenate(y, r), dimensions={0}
}
array {
  i = s32[]{:T(128)S(6)} parameter(0)
  ROOT r = s32[1]{0:T(128)} reshape(i)
}
ENTRY e {
  j = s32[]{:T(128)} parameter(0)
  x = f32[16,8,128]{2,1,0:T(8,128)} parameter(1)
  y = s32[8]{0:T(128)} parameter(2)
  i = s32[]{:T(128)S(6)} copy(j)
  a = f32[8,128]{1,0:T(8,128)} fusion(i, x), kind=kLoop, calls=slice
  b = s32[9]{0:T(128)} fusion(i, y), kind=kLoop, calls=append
  c = s32[1]{0:T(128)} fusion(i), kind=kLoop, calls=array
  ROOT t = (f32[8,128]{1,0:T(8,128)}, s32[9]{0:T(128)}, s32[1]{0:T(128)}) tuple(a, b, c)
})",
                                           /*verify=*/true);
  EXPECT_THAT(entry, HasSubstr("dynamic-slice(%x, %i, "));
  EXPECT_THAT(entry, HasSubstr(" = s32[]{:T(128)} copy(%i)"));
  EXPECT_EQ(entry.find("copy(%i)"), entry.rfind("copy(%i)")) << entry;
}

}  // namespace
}  // namespace ptxla::driver
