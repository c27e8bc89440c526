// A module that the compiler of another machine scheduled: its program is
// taken, what was decided for that machine is not.
#include <string>

#include "driver/prediction.h"
#include "gmock/gmock.h"
#include "tests/support/status_matchers.h"
#include "tests/support/subprocess.h"

namespace ptxla::driver {
namespace {

using ::ptxla::testing::TemporaryFolder;

// What the compiler of another machine scheduled says nothing about a TPU.
TEST(ForeignScheduleTest, ItsFusionsAreTakenApart) {
  const char kBody[] = R"(
f {
  a = f32[512,1024]{1,0} parameter(0)
  ROOT n = f32[512,1024]{1,0} negate(a)
}
ENTRY main {
  a = f32[512,1024]{1,0} parameter(0)
  x = f32[512,1024]{1,0} fusion(a), kind=kLoop, calls=f
  ROOT y = f32[512,1024]{1,0} exponential(x)
})";
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-1";
  request.assumed_effects = false;
  request.hlo = folder.Write(
      "cpu.hlo", std::string("HloModule m, is_scheduled=true\n") + kBody);
  ASSERT_OK_AND_ASSIGN(const Prediction cpu, Predict(request));
  ASSERT_EQ(cpu.record.warnings_size(), 1);
  EXPECT_THAT(cpu.record.warnings(0),
              ::testing::HasSubstr("scheduled for another machine"));
  request.hlo = folder.Write("plain.hlo", R"(HloModule m
ENTRY main {
  a = f32[512,1024] parameter(0)
  x = f32[512,1024] negate(a)
  ROOT y = f32[512,1024] exponential(x)
})");
  ASSERT_OK_AND_ASSIGN(const Prediction plain, Predict(request));
  EXPECT_EQ(cpu.record.device_time_ps(), plain.record.device_time_ps());
}

// Sorts of JAX on CPUs order by a float's bits, which are a bitcast there.
TEST(ForeignScheduleTest, ItsBitcastsToATypeAreTakenForTheBits) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-1";
  request.verify = true;
  request.hlo = folder.Write("sort.hlo", R"(HloModule m, is_scheduled=true
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  zero = s32[] constant(0)
  most = s32[] constant(2147483647)
  x = s32[] bitcast(a)
  y = s32[] bitcast(b)
  turned.x = s32[] xor(most, x)
  negative.x = pred[] compare(x, zero), direction=LT
  turned.y = s32[] xor(most, y)
  negative.y = pred[] compare(y, zero), direction=LT
  key.x = s32[] select(negative.x, turned.x, x)
  key.y = s32[] select(negative.y, turned.y, y)
  ROOT less = pred[] compare(key.x, key.y), direction=LT
}
ENTRY main {
  a = f32[7,129]{1,0} parameter(0)
  s = f32[7,129]{1,0} sort(a), dimensions={1}, is_stable=true, to_apply=less
  ROOT bits = s32[903]{0} bitcast(s)
})");
  EXPECT_OK(Predict(request));
}

// Their copies of a loop's values wait for one another: buffers that ours does
// not have.
TEST(ForeignScheduleTest, ItsControlEdgesAreForgotten) {
  const TemporaryFolder folder;
  RunRequest request;
  request.topology = "v6e-1";
  request.verify = true;
  request.hlo = folder.Write("loop.hlo", R"(HloModule m, is_scheduled=true
body {
  state = (s32[], f32[9]{0}, f32[9]{0}) parameter(0)
  one = s32[] constant(1)
  n = s32[] get-tuple-element(state), index=0
  a = f32[9]{0} get-tuple-element(state), index=1
  b = f32[9]{0} get-tuple-element(state), index=2
  copy.a = f32[9]{0} copy(a)
  copy.b = f32[9]{0} copy(b)
  to.b = f32[9]{0} copy(copy.a), control-predecessors={copy.b}
  to.a = f32[9]{0} copy(copy.b), control-predecessors={copy.a}
  next = s32[] add(n, one)
  ROOT result = (s32[], f32[9]{0}, f32[9]{0}) tuple(next, to.a, to.b)
}
condition {
  state = (s32[], f32[9]{0}, f32[9]{0}) parameter(0)
  n = s32[] get-tuple-element(state), index=0
  limit = s32[] constant(5)
  ROOT more = pred[] compare(n, limit), direction=LT
}
ENTRY main {
  a = f32[9]{0} parameter(0)
  b = f32[9]{0} parameter(1)
  zero = s32[] constant(0)
  start = (s32[], f32[9]{0}, f32[9]{0}) tuple(zero, a, b)
  ROOT loop = (s32[], f32[9]{0}, f32[9]{0}) while(start), condition=condition, body=body
})");
  EXPECT_OK(Predict(request));
}

}  // namespace
}  // namespace ptxla::driver
