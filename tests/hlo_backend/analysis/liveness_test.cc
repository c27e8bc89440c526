#include "hlo_backend/analysis/liveness.h"

#include "gtest/gtest.h"
#include "hlo_backend/ir/module.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

struct Case {
  std::unique_ptr<Module> module;
  std::unique_ptr<Liveness> live;
  // "start..end" of the range of instruction `name` at `index`.
  std::string Of(absl::string_view name,
                 std::vector<int64_t> index = {}) const {
    for (const Instruction* i : module->entry()->instructions()) {
      if (i->name() != name) continue;
      const LiveRange& r = live->ranges()[live->RangeOf(i, index)];
      return absl::StrCat(r.value->name(), " ", r.start, "..", r.end,
                          r.is_live_out ? " out" : "");
    }
    return "none";
  }
};

Case Analyse(absl::string_view body) {
  Case c;
  c.module =
      ParseModule(absl::StrCat("HloModule t\nENTRY main {", body, "}")).value();
  c.live = std::make_unique<Liveness>(*c.module->entry(),
                                      c.module->entry()->PostOrder());
  return c;
}

TEST(LivenessTest, AValueLivesUntilItsLastReader) {
  const Case c = Analyse(R"(
    p = f32[100] parameter(0)
    a = f32[100] negate(p)
    b = f32[100] exponential(a)
    d = f32[100] add(a, b)
    ROOT e = f32[100] negate(d))");
  EXPECT_EQ(c.Of("p"), "p -1..1");
  EXPECT_EQ(c.Of("a"), "a 1..3");
  EXPECT_EQ(c.Of("b"), "b 2..3");
  EXPECT_EQ(c.Of("e"), "e 4..5 out");
  EXPECT_EQ(c.live->PeakBytes(), 3 * 400);
}

TEST(LivenessTest, TuplesAndBitcastsAreTheirOperands) {
  const Case c = Analyse(R"(
    p = f32[100] parameter(0)
    a = f32[100] negate(p)
    t = (f32[100], f32[100]) tuple(a, p)
    g = f32[100] get-tuple-element(t), index=0
    b = f32[10,10] bitcast(g)
    ROOT e = f32[10,10] negate(b))");
  EXPECT_EQ(c.Of("b"), "a 1..5");
  EXPECT_EQ(c.Of("t", {1}), "p -1..1");
}

TEST(LivenessTest, AnUpdateInPlaceGoesOnWithItsOperand) {
  const Case c = Analyse(R"(
    p = f32[100] parameter(0)
    i = s32[] parameter(1)
    u = f32[1] parameter(2)
    a = f32[100] negate(p)
    d = f32[100] dynamic-update-slice(a, u, i)
    ROOT e = f32[100] negate(d))");
  EXPECT_EQ(c.Of("d"), "a 3..5");
}

TEST(LivenessTest, AnOperandReadLaterIsNotOverwritten) {
  const Case c = Analyse(R"(
    p = f32[100] parameter(0)
    i = s32[] parameter(1)
    u = f32[1] parameter(2)
    a = f32[100] negate(p)
    d = f32[100] dynamic-update-slice(a, u, i)
    ROOT e = f32[100] add(d, a))");
  EXPECT_EQ(c.Of("d"), "d 4..5");
  EXPECT_EQ(c.Of("a"), "a 3..5");
}

TEST(LivenessTest, AnAsyncCopyHoldsItsSourceUntilItsEnd) {
  const Case c = Analyse(R"(
    p = f32[100] parameter(0)
    a = f32[100] negate(p)
    s = (f32[100]{0:S(1)}, f32[100], u32[]) copy-start(a)
    w = f32[100] exponential(p)
    d = f32[100]{0:S(1)} copy-done(s)
    ROOT e = f32[100] add(d, w))");
  EXPECT_EQ(c.Of("a"), "a 1..4");
  EXPECT_EQ(c.Of("d"), "s 2..5");
}

}  // namespace
}  // namespace ptxla::hlo
