#include "hlo_backend/passes/memory/shared_places.h"

#include <string>
#include <utility>
#include <vector>

#include "absl/strings/str_cat.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Pair;

// Names of what is taken and what takes it, of an entry of [16,128] arrays.
std::vector<std::pair<std::string, std::string>> Shared(
    const std::string& before, const std::string& entry) {
  const std::string array = "f32[16,128]{1,0:T(8,128)}";
  auto module = ParseModule(absl::StrCat("HloModule m, is_scheduled=true\n",
                                         before, "ENTRY e {\n  p = ", array,
                                         " parameter(0)\n", entry, "}\n"));
  EXPECT_OK(module.status());
  if (!module.ok()) return {};
  std::vector<std::pair<std::string, std::string>> names;
  const Computation& c = *(*module)->entry();
  for (const SharedPlace& s : SharedPlaces(c, PositionsOf(c))) {
    names.emplace_back(s.from.maker->name(), s.to.maker->name());
  }
  return names;
}

TEST(SharedPlacesTest, TheLastReaderTakesThePlace) {
  EXPECT_THAT(Shared("", R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  b = f32[16,128]{1,0:T(8,128)} tanh(a)
  ROOT r = f32[16,128]{1,0:T(8,128)} negate(b)
)"),
              ElementsAre(Pair("a", "b")));
}

TEST(SharedPlacesTest, WhatIsReadLaterStays) {
  EXPECT_THAT(Shared("", R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  b = f32[16,128]{1,0:T(8,128)} tanh(a)
  ROOT r = f32[16,128]{1,0:T(8,128)} add(a, b)
)"),
              IsEmpty());
}

// The other operand is the first to be free.
TEST(SharedPlacesTest, OnePlaceIsTakenOnce) {
  EXPECT_THAT(Shared("", R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  b = f32[16,128]{1,0:T(8,128)} tanh(p)
  c = f32[16,128]{1,0:T(8,128)} add(a, b)
  ROOT r = f32[16,128]{1,0:T(8,128)} negate(c)
)"),
              ElementsAre(Pair("a", "c")));
}

TEST(SharedPlacesTest, OtherLayoutsDoNotFit) {
  EXPECT_THAT(Shared("", R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  b = bf16[16,128]{1,0:T(8,128)(2,1)} convert(a)
  ROOT r = bf16[16,128]{1,0:T(8,128)(2,1)} negate(b)
)"),
              IsEmpty());
}

// Gradients of a loss, with their sum for the bias.
TEST(SharedPlacesTest, WorkThatEndsInAReduceTakesAPlaceToo) {
  EXPECT_THAT(Shared(R"(
add {
  x = f32[] parameter(0)
  y = f32[] parameter(1)
  ROOT z = f32[] add(x, y)
}
gradient {
  x = f32[16,128]{1,0:T(8,128)} parameter(0)
  z = f32[]{:T(128)} constant(0)
  d = f32[16,128]{1,0:T(8,128)} exponential(x)
  s = f32[128]{0:T(128)} reduce(d, z), dimensions={0}, to_apply=add
  ROOT t = (f32[16,128]{1,0:T(8,128)}, f32[128]{0:T(128)}) tuple(d, s)
}
)",
                     R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  f = (f32[16,128]{1,0:T(8,128)}, f32[128]{0:T(128)}) fusion(a), kind=kInput, calls=gradient
  d = f32[16,128]{1,0:T(8,128)} get-tuple-element(f), index=0
  s = f32[128]{0:T(128)} get-tuple-element(f), index=1
  n = f32[16,128]{1,0:T(8,128)} negate(d)
  ROOT t = (f32[16,128]{1,0:T(8,128)}, f32[128]{0:T(128)}) tuple(n, s)
)"),
              ElementsAre(Pair("a", "f")));
}

// The caller's arrays, and those that it gets.
TEST(SharedPlacesTest, ParametersAndResultsStayApart) {
  EXPECT_THAT(Shared("", R"(
  a = f32[16,128]{1,0:T(8,128)} negate(p)
  b = f32[16,128]{1,0:T(8,128)} tanh(p)
  c = f32[16,128]{1,0:T(8,128)} negate(b)
  ROOT t = (f32[16,128]{1,0:T(8,128)}, f32[16,128]{1,0:T(8,128)}) tuple(a, c)
)"),
              IsEmpty());
}

}  // namespace
}  // namespace ptxla::hlo
