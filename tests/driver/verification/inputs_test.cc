// Are inputs of the kind that a program asks for?
#include "driver/verification/inputs.h"

#include "driver/verification/parameter_roles.h"
#include "gtest/gtest.h"
#include "hlo_backend/ir/parser.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

constexpr char kStep[] = R"(HloModule step
ENTRY e {
  ids = s64[16] parameter(0)
  table = f32[1000,64] parameter(1)
  w = f32[64,32] parameter(2)
  gain = f32[32] parameter(3)
  bias = f32[32] parameter(4)
  v = f32[64,32] parameter(5)
  rate = f32[] parameter(6)
  labels = s32[16] parameter(7)
  mask = s32[16,32] parameter(8)
  x = f32[16,64] parameter(9)
  short = u32[16] convert(ids)
  g = f32[16,64] gather(table, short), offset_dims={1}, collapsed_slice_dims={0}, start_index_map={0}, index_vector_dim=1, slice_sizes={1,64}
  h = f32[16,64] add(g, x)
  d = f32[16,32] dot(h, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  gb = f32[16,32] broadcast(gain), dimensions={1}
  n = f32[16,32] multiply(d, gb)
  bb = f32[16,32] broadcast(bias), dimensions={1}
  y = f32[16,32] add(n, bb)
  classes = s32[16,32] iota(), iota_dimension=1
  lb = s32[16,32] broadcast(labels), dimensions={0}
  hot = pred[16,32] compare(lb, classes), direction=EQ
  m = f32[16,32] convert(mask)
  z = f32[16,32] select(hot, y, m)
  rb = f32[64,32] broadcast(rate), dimensions={}
  w2 = f32[64,32] multiply(w, w)
  v2 = f32[64,32] multiply(v, rb)
  v3 = f32[64,32] add(v2, w2)
  root = f32[64,32] sqrt(v3)
  ROOT t = (f32[16,32], f32[64,32]) tuple(z, root)
})";

TEST(InputsTest, RolesAreReadOffTheUses) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(kStep));
  const std::vector<ParameterRole> roles = RolesOf(*module);
  ASSERT_EQ(roles.size(), 10u);
  EXPECT_EQ(roles[0].kind, ParameterRole::kIndex);
  EXPECT_EQ(roles[0].bound, 1000);
  EXPECT_EQ(roles[1].kind, ParameterRole::kWeight);
  EXPECT_EQ(roles[2].kind, ParameterRole::kWeight);
  EXPECT_EQ(roles[3].kind, ParameterRole::kScale);
  EXPECT_EQ(roles[4].kind, ParameterRole::kBias);
  EXPECT_EQ(roles[5].kind, ParameterRole::kPositive);
  EXPECT_EQ(roles[6].kind, ParameterRole::kScalar);
  EXPECT_EQ(roles[7].kind, ParameterRole::kIndex);
  EXPECT_EQ(roles[7].bound, 32);
  EXPECT_EQ(roles[8].kind, ParameterRole::kFlag);
  EXPECT_EQ(roles[9].kind, ParameterRole::kData);
}

// Weights of layers that a loop takes one by one, the counter in its state.
TEST(InputsTest, RolesAreReadOffTheUsesInLoops) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(R"(HloModule layers
body {
  s = (s32[], f32[16,64], f32[3,64], f32[3,64,64], f32[3,64]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  x = f32[16,64] get-tuple-element(s), index=1
  gains = f32[3,64] get-tuple-element(s), index=2
  ws = f32[3,64,64] get-tuple-element(s), index=3
  vs = f32[3,64] get-tuple-element(s), index=4
  zero = s32[] constant(0)
  one = s32[] constant(1)
  gain = f32[1,64] dynamic-slice(gains, k, zero), dynamic_slice_sizes={1,64}
  g = f32[64] reshape(gain)
  gb = f32[16,64] broadcast(g), dimensions={1}
  scaled = f32[16,64] multiply(x, gb)
  wk = f32[1,64,64] dynamic-slice(ws, k, zero, zero), dynamic_slice_sizes={1,64,64}
  w = f32[64,64] reshape(wk)
  d = f32[16,64] dot(scaled, w), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  vk = f32[1,64] dynamic-slice(vs, k, zero), dynamic_slice_sizes={1,64}
  v = f32[64] reshape(vk)
  root = f32[64] sqrt(v)
  rb = f32[16,64] broadcast(root), dimensions={1}
  y = f32[16,64] divide(d, rb)
  n = s32[] add(k, one)
  ROOT t = (s32[], f32[16,64], f32[3,64], f32[3,64,64], f32[3,64]) tuple(n, y, gains, ws, vs)
}
condition {
  s = (s32[], f32[16,64], f32[3,64], f32[3,64,64], f32[3,64]) parameter(0)
  k = s32[] get-tuple-element(s), index=0
  three = s32[] constant(3)
  ROOT more = pred[] compare(k, three), direction=LT
}
ENTRY e {
  x = f32[16,64] parameter(0)
  gains = f32[3,64] parameter(1)
  ws = f32[3,64,64] parameter(2)
  vs = f32[3,64] parameter(3)
  zero = s32[] constant(0)
  t = (s32[], f32[16,64], f32[3,64], f32[3,64,64], f32[3,64]) tuple(zero, x, gains, ws, vs)
  w = (s32[], f32[16,64], f32[3,64], f32[3,64,64], f32[3,64]) while(t), condition=condition, body=body
  ROOT y = f32[16,64] get-tuple-element(w), index=1
})"));
  const std::vector<ParameterRole> roles = RolesOf(*module);
  ASSERT_EQ(roles.size(), 4u);
  EXPECT_EQ(roles[0].kind, ParameterRole::kData);
  EXPECT_EQ(roles[1].kind, ParameterRole::kScale);
  EXPECT_EQ(roles[2].kind, ParameterRole::kWeight);
  EXPECT_EQ(roles[3].kind, ParameterRole::kPositive);
}

TEST(InputsTest, ValuesAreInTheirRange) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(kStep));
  const std::vector<hlo::Literal> in = MakeInputs(*module, 7);
  for (int64_t i = 0; i < 16; ++i) {
    EXPECT_GE(in[0].GetInt(i), 0);
    EXPECT_LT(in[0].GetInt(i), 1000);
    EXPECT_LT(in[7].GetInt(i), 32);
  }
  double sum = 0, squares = 0;
  for (int64_t i = 0; i < 64 * 32; ++i) {
    sum += in[2].GetDouble(i);
    squares += in[2].GetDouble(i) * in[2].GetDouble(i);
    EXPECT_GT(in[5].GetDouble(i), 0);
  }
  EXPECT_NEAR(sum / 2048, 0, 0.002);
  EXPECT_NEAR(squares / 2048, 0.0004, 0.00005);
}

TEST(InputsTest, ASeedGivesTheSameValuesAgain) {
  ASSERT_OK_AND_ASSIGN(const auto module, hlo::ParseModule(kStep));
  EXPECT_TRUE(MakeInputs(*module, 7) == MakeInputs(*module, 7));
  EXPECT_FALSE(MakeInputs(*module, 7) == MakeInputs(*module, 8));
}

}  // namespace
}  // namespace ptxla::driver
