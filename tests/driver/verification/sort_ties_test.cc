// Equal elements of an unstable sort come in any order; lost or doubled ones,
// and those out of order, are wrong.
#include "driver/verification/sort_ties.h"

#include <memory>
#include <vector>

#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

using hlo::Literal;

constexpr absl::string_view kSort = R"(HloModule m
less {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=LT
}
ENTRY e {
  keys = f32[2,3] parameter(0)
  positions = s32[2,3] parameter(1)
  ROOT s = (f32[2,3], s32[2,3]) sort(keys, positions), dimensions={1}, to_apply=less
})";

bool MayBe(std::vector<float> keys, std::vector<int32_t> positions) {
  auto module = hlo::ParseModule(kSort);
  CHECK(module.ok()) << module.status();
  const hlo::Instruction& sort = *(*module)->entry()->root();
  const auto before_keys =
      Literal::FromVector<float>({2, 3}, {5, 3, 5, 1, 1, 1});
  const auto before_positions =
      Literal::FromVector<int32_t>({2, 3}, {0, 1, 2, 0, 1, 2});
  const auto after_keys = Literal::FromVector<float>({2, 3}, keys);
  const auto after_positions = Literal::FromVector<int32_t>({2, 3}, positions);
  return IsUnstableSort(sort) &&
         IsSortOf(sort, {&before_keys, &before_positions},
                  {&after_keys, &after_positions}, {});
}

TEST(SortTiesTest, EqualElementsMayChangePlaces) {
  EXPECT_TRUE(MayBe({3, 5, 5, 1, 1, 1}, {1, 0, 2, 0, 1, 2}));
  EXPECT_TRUE(MayBe({3, 5, 5, 1, 1, 1}, {1, 2, 0, 2, 0, 1}));
}

TEST(SortTiesTest, OthersMayNot) {
  EXPECT_FALSE(MayBe({5, 3, 5, 1, 1, 1}, {0, 1, 2, 0, 1, 2}));  // no order
  EXPECT_FALSE(MayBe({3, 5, 5, 1, 1, 1}, {1, 0, 0, 0, 1, 2}));  // doubled
  EXPECT_FALSE(MayBe({3, 5, 5, 1, 1, 1}, {0, 1, 2, 0, 1, 2}));  // another's
  EXPECT_FALSE(MayBe({1, 1, 1, 3, 5, 5}, {0, 1, 2, 1, 0, 2}));  // lines
}

// The router of a mixture of experts in bf16: of 512 rows, some have ties.
TEST(SortTiesTest, ProgramsWithTiesAreRight) {
  const auto v = VerifyText(R"(HloModule m
more {
  a = f32[] parameter(0)
  b = f32[] parameter(1)
  i = s32[] parameter(2)
  j = s32[] parameter(3)
  ROOT r = pred[] compare(a, b), direction=GT
}
ENTRY e {
  x = f32[512,4] parameter(0)
  eight = f32[] constant(8)
  eights = f32[512,4] broadcast(eight), dimensions={}
  large = f32[512,4] multiply(x, eights)
  score = f32[512,4] round-nearest-even(large)
  expert = s32[512,4] iota(), iota_dimension=1
  sorted = (f32[512,4], s32[512,4]) sort(score, expert), dimensions={1}, to_apply=more
  ROOT chosen = s32[512,4] get-tuple-element(sorted), index=1
})");
  ASSERT_TRUE(v.ok()) << v.status();
  EXPECT_TRUE(v->ok()) << v->Line() << "\n" << v->Details();
  EXPECT_FALSE(v->ties.empty()) << v->Line();
}

}  // namespace
}  // namespace ptxla::driver
