// Where an argmax starts from counts too: a value that no element beats is the
// result, with its own position.
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"

namespace ptxla::driver {
namespace {

struct Start {
  const char *type, *value, *position;
};

class ArgmaxStartTest : public ::testing::TestWithParam<Start> {};

TEST_P(ArgmaxStartTest, TheResultIsTheEvaluators) {
  const Start& start = GetParam();
  const auto v =
      VerifyText(absl::Substitute(R"(HloModule m
argmax {
  a = $0[] parameter(0)
  i = s32[] parameter(1)
  b = $0[] parameter(2)
  j = s32[] parameter(3)
  more = pred[] compare(a, b), direction=GT
  nan = pred[] compare(a, a), direction=NE
  better = pred[] or(more, nan)
  value = $0[] select(better, a, b)
  equal = pred[] compare(a, b), direction=EQ
  earlier = pred[] compare(i, j), direction=LT
  tie = pred[] and(equal, earlier)
  mine = pred[] or(better, tie)
  index = s32[] select(mine, i, j)
  ROOT r = ($0[], s32[]) tuple(value, index)
}
ENTRY e {
  x = $0[24,200] parameter(0)
  where = s32[24,200] iota(), iota_dimension=1
  value = $0[] constant($1)
  position = s32[] constant($2)
  ROOT best = ($0[24], s32[24]) reduce(x, where, value, position), dimensions={1}, to_apply=argmax
})",
                                  start.type, start.value, start.position));
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
}

INSTANTIATE_TEST_SUITE_P(
    Starts, ArgmaxStartTest,
    ::testing::Values(Start{"f32", "-inf", "0"},  // never the result
                      Start{"f32", "inf", "0"},   // always
                      Start{"f32", "inf", "-1"},  // with its own position
                      Start{"f32", "0.5", "77"},  // of some rows
                      Start{"f32", "nan", "5"},   // beats all
                      Start{"s32", "-2147483648", "0"},
                      Start{"s32", "2147483647", "4"}));

}  // namespace
}  // namespace ptxla::driver
