// Where padding lies along a dimension, without a look at each element.
#include "hlo_backend/lowering/movement/index_map.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>

#include "absl/strings/str_cat.h"
#include "base/check.h"
#include "hlo_backend/ir/computation.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::lowering {
namespace {

std::unique_ptr<hlo::Module> Fusion(const std::string& body,
                                    const std::string& result) {
  auto module = hlo::ParseModule(
      absl::StrCat("HloModule m\nf {\n", "  p = f32[3,4] parameter(0)\n",
                   "  z = f32[] parameter(1)\n", body, "}\nENTRY e {\n",
                   "  a = f32[3,4] parameter(0)\n",
                   "  b = f32[] parameter(1)\n", "  ROOT r = ", result,
                   " fusion(a, b), kind=kLoop, "
                   "calls=f\n}"));
  CHECK(module.ok()) << module.status();
  return *std::move(module);
}

constexpr int64_t kAll = INT64_MAX;

int64_t PaddingFrom(const hlo::Module& module, const hlo::DimVector& index,
                    int dim) {
  auto map = IndexMap::Of(*module.entry()->root());
  CHECK(map.ok()) << map.status();
  return map->PaddingFrom(index, dim);
}

constexpr char kRowsBehind[] =
    "  ROOT d = f32[8,4] pad(p, z), padding=0_5x0_0\n";

TEST(IndexMapTest, ARowBehindTheArrayIsPaddingAlongItsLanes) {
  const auto module = Fusion(kRowsBehind, "f32[8,4]");
  EXPECT_EQ(PaddingFrom(*module, {3, 0}, 1), kAll);
}

TEST(IndexMapTest, PaddingBehindElementsGoesOnDownItsColumn) {
  const auto module = Fusion(kRowsBehind, "f32[8,4]");
  EXPECT_EQ(PaddingFrom(*module, {4, 0}, 0), kAll);
}

TEST(IndexMapTest, PaddingInFrontEndsWhereElementsBegin) {
  const auto module = Fusion(
      "  d = f32[11,4] pad(p, z), padding=5_3x0_0\n"
      "  ROOT s = f32[9,4] slice(d), slice={[1:10], [0:4]}\n",
      "f32[9,4]");
  EXPECT_EQ(PaddingFrom(*module, {1, 0}, 0), 3);
}

TEST(IndexMapTest, PaddingBetweenElementsEndsAtTheNext) {
  const auto module = Fusion(
      "  ROOT d = f32[11,4] pad(p, z), padding=0_0_3x0_0\n", "f32[11,4]");
  EXPECT_EQ(PaddingFrom(*module, {2, 0}, 0), 2);
}

TEST(IndexMapTest, ATransposedRowOfPaddingIsAColumn) {
  const auto module = Fusion(
      "  d = f32[8,4] pad(p, z), padding=0_5x0_0\n"
      "  ROOT t = f32[4,8] transpose(d), dimensions={1,0}\n",
      "f32[4,8]");
  EXPECT_EQ(PaddingFrom(*module, {0, 3}, 0), kAll);
}

TEST(IndexMapTest, AReshapeOfTheDimensionSaysNothing) {
  const auto module = Fusion(
      "  d = f32[8,4] pad(p, z), padding=0_5x0_0\n"
      "  ROOT t = f32[32] reshape(d)\n",
      "f32[32]");
  EXPECT_EQ(PaddingFrom(*module, {12}, 0), 1);
}

TEST(IndexMapTest, AConcatenationAlongTheDimensionSaysNothing) {
  const auto module = Fusion(
      "  d = f32[8,4] pad(p, z), padding=0_5x0_0\n"
      "  q = f32[8,4] broadcast(z), dimensions={}\n"
      "  ROOT c = f32[8,8] concatenate(d, q), dimensions={1}\n",
      "f32[8,8]");
  EXPECT_EQ(PaddingFrom(*module, {3, 0}, 1), 1);
}

bool IsPaddingFrom(const IndexMap& map, const hlo::Shape& shape,
                   hlo::DimVector index, int dim, int64_t count) {
  const int64_t left = shape.dim(dim) - index[dim];
  for (int64_t k = 0; k < std::min(left, count); ++k, ++index[dim]) {
    if (map.At(index).operand >= 0) return false;
  }
  return true;
}

void Next(const hlo::Shape& shape, hlo::DimVector* index) {
  for (int d = shape.rank() - 1; d >= 0; --d) {
    if (++(*index)[d] < shape.dim(d)) return;
    (*index)[d] = 0;
  }
}

TEST(IndexMapTest, WhatIsSaidToBePaddingIs) {
  const struct {
    const char *body, *result;
  } forms[] = {{"  d = f32[5,9] pad(p, z), padding=1_1x2_3\n"
                "  ROOT r = f32[5,9] reverse(d), dimensions={0}\n",
                "f32[5,9]"},
               {"  d = f32[7,4] pad(p, z), padding=1_1_1x0_0\n"
                "  s = f32[3,4] slice(d), slice={[0:7:3], [0:4]}\n"
                "  t = f32[4,3] transpose(s), dimensions={1,0}\n"
                "  ROOT b = f32[4,2,3] broadcast(t), dimensions={0,2}\n",
                "f32[4,2,3]"},
               {"  d = f32[9,7] pad(p, z), padding=3_-1_1x2_-2_2\n"
                "  s = f32[8,5] slice(d), slice={[1:9], [1:6]}\n"
                "  ROOT e = f32[10,9] pad(s, z), padding=1_1x2_2\n",
                "f32[10,9]"},
               {"  d = f32[6,4] pad(p, z), padding=2_1x0_0\n"
                "  x = f32[2,3,4] reshape(d)\n"
                "  ROOT t = f32[4,3,2] transpose(x), dimensions={2,1,0}\n",
                "f32[4,3,2]"}};
  int said = 0;
  for (const auto& form : forms) {
    const auto module = Fusion(form.body, form.result);
    const hlo::Shape& shape = module->entry()->root()->shape();
    ASSERT_OK_AND_ASSIGN(const IndexMap map,
                         IndexMap::Of(*module->entry()->root()));
    hlo::DimVector index(shape.rank(), 0);
    for (int64_t n = 0; n < shape.ElementCount(); ++n, Next(shape, &index)) {
      for (int dim = 0; dim < shape.rank(); ++dim) {
        if (map.At(index).operand >= 0) continue;
        const int64_t count = map.PaddingFrom(index, dim);
        said += count > 1;
        EXPECT_TRUE(IsPaddingFrom(map, shape, index, dim, count)) << form.body;
      }
    }
  }
  EXPECT_GT(said, 0);
}

}  // namespace
}  // namespace ptxla::lowering
