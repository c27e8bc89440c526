// What a schedule takes out of larger arrays: slices that the DMA engines
// bring to VMEM, single elements.
#include "absl/strings/substitute.h"
#include "driver/prediction.h"
#include "tests/end_to_end/scheduled_entry.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;
using ::testing::HasSubstr;
using ::testing::Not;

// Columns of an array, and rows of each of its planes: as many pieces as rows
// of tiles, or planes, that the DMA brings one behind the other.
TEST(ScheduledSlicesTest, ASliceMayBeOfSeveralPieces) {
  const TemporaryFolder folder;
  RunRequest request;
  request.assumed_effects = false;
  request.verify = true;
  request.hlo = folder.Write("m.hlo", R"(HloModule m, is_scheduled=true
ENTRY e {
  x = f32[3,40,384]{2,1,0:T(8,128)} parameter(0)
  y = bf16[1,256,5,64]{1,3,2,0:T(8,128)(2,1)} parameter(1)
  a = ((f32[3,40,384]{2,1,0:T(8,128)}), f32[3,40,130]{2,1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(x), slice={[0:3], [0:40], [128:258]}
  b = ((f32[3,40,384]{2,1,0:T(8,128)}), f32[2,16,384]{2,1,0:T(8,128)S(1)}, s32[]{:S(2)}) slice-start(x), slice={[1:3], [8:24], [0:384]}
  c = ((bf16[1,256,5,64]{1,3,2,0:T(8,128)(2,1)}), bf16[1,256,5,32]{1,3,2,0:T(8,128)(2,1)S(1)}, s32[]{:S(2)}) slice-start(y), slice={[0:1], [0:256], [0:5], [32:64]}
  ad = f32[3,40,130]{2,1,0:T(8,128)S(1)} slice-done(a)
  bd = f32[2,16,384]{2,1,0:T(8,128)S(1)} slice-done(b)
  cd = bf16[1,256,5,32]{1,3,2,0:T(8,128)(2,1)S(1)} slice-done(c)
  an = f32[3,40,130]{2,1,0:T(8,128)} negate(ad)
  bn = f32[2,16,384]{2,1,0:T(8,128)} negate(bd)
  cn = bf16[1,256,5,32]{1,3,2,0:T(8,128)(2,1)} negate(cd)
  ROOT t = (f32[3,40,130]{2,1,0:T(8,128)}, f32[2,16,384]{2,1,0:T(8,128)}, bf16[1,256,5,32]{1,3,2,0:T(8,128)(2,1)}) tuple(an, bn, cn)
})");
  for (const char* topology : {"v5e-1", "v6e-1"}) {
    request.topology = topology;
    EXPECT_OK(Predict(request).status()) << topology;
  }
}

// By coordinates in another order than the dimensions, some beyond the array;
// of whole tiles and with padding.
TEST(ScheduledSlicesTest, ElementsAreTakenFromTilesWhereTheyLie) {
  const TemporaryFolder folder;
  RunRequest request;
  request.assumed_effects = false;
  request.verify = true;
  for (const char* dims : {"3,16,256", "3,13,250"}) {
    request.hlo =
        folder.Write("m.hlo", absl::Substitute(R"(HloModule m, is_scheduled=true
pick {
  x = f32[$0]{2,1,0:T(8,128)} parameter(0)
  n = s32[40]{0:T(128)} parameter(1)
  k = s32[40,3]{1,0:T(8,128)} iota(), iota_dimension=0
  m = s32[40,3]{1,0:T(8,128)} iota(), iota_dimension=1
  s = s32[40,3]{1,0:T(8,128)} multiply(k, m)
  b = s32[40,3]{1,0:T(8,128)} broadcast(n), dimensions={0}
  i = s32[40,3]{1,0:T(8,128)} add(s, b)
  ROOT g = f32[40]{0:T(128)} gather(x, i), offset_dims={}, collapsed_slice_dims={0,1,2}, start_index_map={2,0,1}, index_vector_dim=1, slice_sizes={1,1,1}
}
ENTRY e {
  x = f32[$0]{2,1,0:T(8,128)} parameter(0)
  n = s32[40]{0:T(128)} parameter(1)
  ROOT r = f32[40]{0:T(128)} fusion(x, n), kind=kCustom, calls=pick
})",
                                               dims));
    for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
      request.topology = topology;
      EXPECT_OK(Predict(request).status()) << topology << " " << dims;
    }
  }
}

// Weights of adapters, a plane for each of a batch: the array and the result
// lie alike, whatever is written between them.
TEST(ScheduledSlicesTest, PlanesAreGatheredInTheOrderInWhichTheyLie) {
  for (const char* topology : {"v4:1x1x1", "v5e-1", "v6e-1"}) {
    const std::string entry = ScheduledEntry(R"(HloModule m, is_scheduled=true
pick {
  x = bf16[16,256,16]{1,2,0:T(8,128)(2,1)} parameter(0)
  i = s32[8]{0:T(128)} parameter(1)
  g = bf16[8,256,16]{2,1,0:T(8,128)(2,1)} gather(x, i), offset_dims={1,2}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,256,16}
  t = bf16[8,256,16]{2,1,0:T(8,128)(2,1)} transpose(g), dimensions={0,1,2}
  ROOT r = bf16[8,256,16]{1,2,0:T(8,128)(2,1)} reshape(t)
}
ENTRY e {
  x = bf16[16,256,16]{1,2,0:T(8,128)(2,1)} parameter(0)
  i = s32[8]{0:T(128)} parameter(1)
  ROOT r = bf16[8,256,16]{1,2,0:T(8,128)(2,1)} fusion(x, i), kind=kCustom, calls=pick
})",
                                             /*verify=*/true, topology);
    EXPECT_THAT(entry, HasSubstr("bf16[8,16,256]{2,1,0")) << topology << entry;
    EXPECT_THAT(entry, Not(HasSubstr(" transpose("))) << topology << entry;
    EXPECT_THAT(entry, Not(HasSubstr(" copy("))) << topology << entry;
  }
}

}  // namespace
}  // namespace ptxla::driver
