// Which computations and instructions count as the same.
#include "hlo_backend/ir/fingerprint.h"

#include "absl/strings/str_cat.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/hlo_backend/ir/graph.h"
#include "tests/support/status_matchers.h"

namespace ptxla::hlo {
namespace {

TEST(FingerprintTest, FingerprintsSeeStructureNotNames) {
  auto fingerprint = [](absl::string_view body) {
    auto module =
        ParseModule(absl::StrCat("HloModule t\nENTRY main {", body, "}"));
    EXPECT_OK(module.status());
    return FingerprintOf(**module);
  };
  const uint64_t base = fingerprint(
      "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] negate(p) "
      "ROOT r = f32[4] subtract(a, b)");
  EXPECT_EQ(base, fingerprint("x = f32[4] parameter(0) b = f32[4] negate(x) "
                              "a = f32[4] exponential(x), "
                              "metadata={op_name=\"y\"} ROOT s = f32[4] "
                              "subtract(a, b)"));
  for (const char* other : {
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(p) ROOT r = f32[4] subtract(b, a)",
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(a) ROOT r = f32[4] subtract(a, b)",
           "p = f32[5] parameter(0) a = f32[5] exponential(p) b = f32[5] "
           "negate(p) ROOT r = f32[5] subtract(a, b)",
           "p = f32[4]{0:S(1)} parameter(0) a = f32[4] exponential(p) b = "
           "f32[4] negate(p) ROOT r = f32[4] subtract(a, b)",
           "p = f32[4] parameter(0) a = f32[4] exponential(p) b = f32[4] "
           "negate(p) d = f32[4] negate(b) ROOT r = f32[4] subtract(a, b)",
       }) {
    EXPECT_NE(base, fingerprint(other)) << other;
  }
}

TEST(FingerprintTest, KernelFingerprintsForgetWhoTheOperandsAre) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* q = g.Param(1);
  Instruction* a = g.b.Add(p, q);
  Instruction* b = g.b.Add(a, p);
  Instruction* c = g.b.Subtract(a, b);
  EXPECT_EQ(KernelFingerprint(*a), KernelFingerprint(*b));
  EXPECT_NE(KernelFingerprint(*a), KernelFingerprint(*c));
}

// An array that is both operands is read once.
TEST(FingerprintTest, KernelFingerprintsKnowWhichOperandsAreTheSame) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* q = g.Param(1);
  EXPECT_NE(KernelFingerprint(*g.b.Add(p, p)),
            KernelFingerprint(*g.b.Add(p, q)));
  EXPECT_EQ(KernelFingerprint(*g.b.Add(p, p)),
            KernelFingerprint(*g.b.Add(q, q)));
}

// Code may hold them: the fill of a broadcast, the start of a reduce.
TEST(FingerprintTest, KernelFingerprintsKnowTheValuesOfConstants) {
  Graph g;
  Instruction* one = g.b.Constant(Literal::Scalar<float>(1));
  Instruction* two = g.b.Constant(Literal::Scalar<float>(2));
  Instruction* a = g.b.BroadcastScalar(one, {4});
  Instruction* b = g.b.BroadcastScalar(two, {4});
  Instruction* c = g.b.BroadcastScalar(one, {4});
  EXPECT_NE(KernelFingerprint(*a), KernelFingerprint(*b));
  EXPECT_EQ(KernelFingerprint(*a), KernelFingerprint(*c));
}

TEST(FingerprintTest, IdenticalMeansOneCanStandForTheOther) {
  Graph g;
  Instruction* p = g.Param(0);
  Instruction* a = g.b.Slice(p, {0}, {2});
  Instruction* b = g.b.Slice(p, {0}, {2});
  Instruction* c = g.b.Slice(p, {1}, {3});
  EXPECT_TRUE(a->Identical(*b));
  EXPECT_FALSE(a->Identical(*c));
  Instruction* one = g.b.One(kF32);
  EXPECT_TRUE(one->Identical(*g.b.One(kF32)));
  EXPECT_FALSE(one->Identical(*g.b.Zero(kF32)));
  const Shape shape = Shape::Array(kF32, {4});
  Instruction* r = g.b.Rng(one, one, shape, RngDistribution::kUniform);
  Instruction* s = g.b.Rng(one, one, shape, RngDistribution::kUniform);
  EXPECT_FALSE(r->Identical(*s));
}

}  // namespace
}  // namespace ptxla::hlo
