// What each family of opcodes computes, against plain C++.
#include <cmath>
#include <limits>

#include "base/numerics/float_formats.h"
#include "base/numerics/random.h"
#include "base/numerics/transcendental.h"
#include "core_fixture.h"
#include "isa/semantics/table.h"

namespace ptxla::isa {
namespace {

using ::ptxla::testing::StatusIs;
using testing::AsFloat;
using testing::At;
using testing::MakeFloats;
using testing::MakeWords;
using testing::Mixed;
using testing::RunBundles;
using testing::Words;

// Runs `op` on (v1, v2) and compares word 0..1023 with f(a, b).
template <class F>
void ExpectBinary(absl::string_view op, const Words& a, const Words& b, F f) {
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles(absl::StrCat("{v10 = ", op, " v1, v2}"), {a, b}));
  for (int w = 0; w < kVregWords; ++w) {
    ASSERT_EQ(out[0][w], f(a[w], b[w])) << op << " " << a[w] << " " << b[w];
  }
}

TEST(SemanticsTest, IntegerArithmeticWrapsAndShiftsSaturate) {
  const Words a = Mixed(1);
  const Words b = Mixed(99);
  using U = uint32_t;
  using S = int32_t;
  ExpectBinary("vadd.s32", a, b, [](U x, U y) { return x + y; });
  ExpectBinary("vsub.s32", a, b, [](U x, U y) { return x - y; });
  ExpectBinary("vmul.u32", a, b, [](U x, U y) { return x * y; });
  ExpectBinary("vmulhi.u32", a, b,
               [](U x, U y) { return U(uint64_t{x} * y >> 32); });
  ExpectBinary("vmulhi.s32", a, b,
               [](U x, U y) { return U(int64_t{S(x)} * S(y) >> 32); });
  ExpectBinary("vmul.u16", a, b,
               [](U x, U y) { return (x & 0xFFFF) * (y & 0xFFFF); });
  ExpectBinary("vmax.u32", a, b, [](U x, U y) { return x > y ? x : y; });
  ExpectBinary("vmin.u32", a, b, [](U x, U y) { return x < y ? x : y; });
  ExpectBinary("vand.u32", a, b, [](U x, U y) { return x & y; });
  ExpectBinary("vor.u32", a, b, [](U x, U y) { return x | y; });
  ExpectBinary("vxor.u32", a, b, [](U x, U y) { return x ^ y; });
  ExpectBinary("vshll.u32", a, b, [](U x, U y) { return y < 32 ? x << y : 0; });
  ExpectBinary("vshrl.u32", a, b, [](U x, U y) { return y < 32 ? x >> y : 0; });
  ExpectBinary("vshra.s32", a, b,
               [](U x, U y) { return U(S(x) >> (y < 32 ? y : 31)); });
  ExpectBinary("vadd.s16", a, b, [](U x, U y) {
    return ((x + y) & 0xFFFF) | ((x >> 16) + (y >> 16)) << 16;
  });
}

TEST(SemanticsTest, FloatArithmetic) {
  const Words a = MakeFloats([](int s, int l) { return 0.1f * l - s; });
  const Words b = MakeFloats([](int s, int l) { return 1.5f * s - 0.3f * l; });
  auto f32 = [](float (*f)(float, float)) {
    return [f](uint32_t x, uint32_t y) {
      return numerics::FloatBits(f(AsFloat(x), AsFloat(y)));
    };
  };
  ExpectBinary("vadd.f32", a, b, f32([](float x, float y) { return x + y; }));
  ExpectBinary("vsub.f32", a, b, f32([](float x, float y) { return x - y; }));
  ExpectBinary("vmul.f32", a, b, f32([](float x, float y) { return x * y; }));
  ExpectBinary("vmax.f32", a, b,
               f32([](float x, float y) { return x > y ? x : y; }));
  ExpectBinary("vmin.f32", a, b,
               f32([](float x, float y) { return x < y ? x : y; }));
}

TEST(SemanticsTest, MaximumAndMinimumKeepNaN) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Words a = MakeFloats([&](int, int l) { return l == 0 ? nan : 1.0f; });
  const Words b = MakeFloats([&](int, int l) { return l == 1 ? nan : 2.0f; });
  ASSERT_OK_AND_ASSIGN(const auto out,
                       RunBundles("{v10 = vmax.f32 v1, v2 ; v11 = vmin.f32 "
                                  "v1, v2}",
                                  {a, b}, 2));
  for (int i = 0; i < 2; ++i) {
    EXPECT_TRUE(std::isnan(AsFloat(out[i][0])));
    EXPECT_TRUE(std::isnan(AsFloat(out[i][1])));
    EXPECT_EQ(AsFloat(out[i][2]), 2 - i);
  }
}

TEST(SemanticsTest, RoundingModes) {
  const Words a = MakeFloats([](int s, int l) { return 0.5f * l - 30 - s; });
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v10 = vfloor.f32 v1} {v11 = vceil.f32 v1} {v12 = "
                 "vround.even.f32 v1} {v13 = vtrunc.f32 v1} {v14 = vround.f32 "
                 "v1}",
                 {a}, 5));
  for (int w = 0; w < kVregWords; ++w) {
    const float x = AsFloat(a[w]);
    EXPECT_EQ(AsFloat(out[0][w]), std::floor(x));
    EXPECT_EQ(AsFloat(out[1][w]), std::ceil(x));
    const float even = 2 * std::floor(x / 2 + 0.5f);
    EXPECT_EQ(AsFloat(out[2][w]), x == std::floor(x) ? x : even) << x;
    EXPECT_EQ(AsFloat(out[3][w]), x < 0 ? std::ceil(x) : std::floor(x));
    EXPECT_EQ(AsFloat(out[4][w]),
              x < 0 ? std::ceil(x - 0.5f) : std::floor(x + 0.5f));
  }
}

TEST(SemanticsTest, ComparesMakeMasksForSelect) {
  const float nan = std::numeric_limits<float>::quiet_NaN();
  const Words a =
      MakeFloats([&](int, int l) { return l == 9 ? nan : l % 3 - 1.0f; });
  const Words b = MakeFloats([](int s, int) { return s % 3 - 1.0f; });
  const char* kNames[] = {"eq", "ne", "lt", "le", "gt", "ge"};
  for (const char* type : {"f32", "s32", "u32"}) {
    // Equality is one for both kinds of integers.
    for (int k = type[0] == 'u' ? 2 : 0; k < 6; ++k) {
      ASSERT_OK_AND_ASSIGN(
          const auto out,
          RunBundles(absl::StrCat("{m1 = vcmp.", kNames[k], ".", type,
                                  " v1, v2} {v10 = vsel m1, v1, v2}"),
                     {a, b}));
      for (int w = 0; w < kVregWords; ++w) {
        auto holds = [&](auto x, auto y) {
          const bool r[] = {x == y, x != y, x<y, x <= y, x> y, x >= y};
          return r[k];
        };
        const bool want = type[0] == 'f'   ? holds(AsFloat(a[w]), AsFloat(b[w]))
                          : type[0] == 's' ? holds(int32_t(a[w]), int32_t(b[w]))
                                           : holds(a[w], b[w]);
        ASSERT_EQ(out[0][w], want ? a[w] : b[w]) << kNames[k] << type;
      }
    }
  }
}

TEST(SemanticsTest, InfinitiesAndNansAreWeird) {
  const float inf = std::numeric_limits<float>::infinity();
  const float kValues[] = {0, -1, inf, -inf, std::nanf(""), 3e38f};
  const Words a = MakeFloats([&](int, int l) { return kValues[l % 6]; });
  ASSERT_OK_AND_ASSIGN(const auto out,
                       RunBundles("{m1 = vweird.f32 v1} {v2 = vimm.u32 0x1} "
                                  "{v10 = vsel m1, v2, 0x0}",
                                  {a}));
  for (int l = 0; l < kLanes; ++l) {
    EXPECT_EQ(out[0][l] == 1, !std::isfinite(kValues[l % 6]));
  }
}

TEST(SemanticsTest, MaskLogicAndRanges) {
  const Words a = Mixed(5);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{m1 = vcmask lanes=3:100, sublanes=2:8} "
                 "{m2 = vcmask lanes=0:50, sublanes=0:4} "
                 "{m3 = vmand m1, m2} {m4 = vmor m1, m2} {m5 = vmxor m1, m2} "
                 "{m6 = vmneg m5} "
                 "{v10 = vsel m3, v1, 0x7} {v11 = vsel m4, v1, 0x7} "
                 "{v12 = vsel m6, v1, 0x7}",
                 {a}, 3));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      const bool x = l >= 3 && l < 100 && s >= 2;
      const bool y = l < 50 && s < 4;
      EXPECT_EQ(out[0][At(s, l)], x && y ? a[At(s, l)] : 7);
      EXPECT_EQ(out[1][At(s, l)], x || y ? a[At(s, l)] : 7);
      EXPECT_EQ(out[2][At(s, l)], x == y ? a[At(s, l)] : 7);
    }
  }
}

TEST(SemanticsTest, ConversionsSaturateAndTruncate) {
  const float kValues[] = {0.0f,
                           -0.7f,
                           1.9f,
                           -1.9f,
                           3e9f,
                           -3e9f,
                           5e9f,
                           2.5f,
                           2147483520.0f,
                           std::numeric_limits<float>::quiet_NaN(),
                           std::numeric_limits<float>::infinity()};
  const int32_t kSigned[] = {0,         0, 1,          -1, INT32_MAX, INT32_MIN,
                             INT32_MAX, 2, 2147483520, 0,  INT32_MAX};
  const Words a = MakeFloats([&](int, int l) { return kValues[l % 11]; });
  ASSERT_OK_AND_ASSIGN(const auto out,
                       RunBundles("{v10 = vcvt.s32.f32 v1} {v11 = vcvt.f32.s32 "
                                  "v10}",
                                  {a}, 2));
  for (int l = 0; l < kLanes; ++l) {
    EXPECT_EQ(static_cast<int32_t>(out[0][l]), kSigned[l % 11]);
    EXPECT_EQ(AsFloat(out[1][l]), static_cast<float>(kSigned[l % 11]));
  }
}

TEST(SemanticsTest, TheRoundingConversionTakesTiesToEven) {
  const float kValues[] = {0.5f,  -0.5f, 1.5f,    -2.5f,
                           2.51f, 3e9f,  -1e-30f, 8388609.0f};
  const int32_t kRounded[] = {0, 0, 2, -2, 3, INT32_MAX, 0, 8388609};
  const Words a = MakeFloats([&](int, int l) { return kValues[l % 8]; });
  ASSERT_OK_AND_ASSIGN(const auto out,
                       RunBundles("{v10 = vcvt.even.s32.f32 v1}", {a}, 1));
  for (int l = 0; l < kLanes; ++l) {
    EXPECT_EQ(static_cast<int32_t>(out[0][l]), kRounded[l % 8]);
  }
}

TEST(SemanticsTest, EupFunctionsAreTheEvaluators) {
  const Words a =
      MakeFloats([](int s, int l) { return 0.05f + s + 0.02f * l; });
  const std::pair<const char*, float (*)(float)> kFunctions[] = {
      {"vrcp", numerics::Rcp},   {"vrsqrt", numerics::Rsqrt},
      {"vpow2", numerics::Exp2}, {"vlog2", numerics::Log2},
      {"vtanh", numerics::Tanh}, {"vsigmoid", numerics::Sigmoid},
      {"verf", numerics::Erf},   {"vsinq", numerics::Sin},
      {"vcosq", numerics::Cos}};
  for (const auto& [name, f] : kFunctions) {
    ASSERT_OK_AND_ASSIGN(
        const auto out,
        RunBundles(absl::StrCat("{", name, ".f32 v1} {v10 = vpop.eup}"), {a}));
    for (int w = 0; w < kVregWords; ++w) {
      ASSERT_EQ(AsFloat(out[0][w]), f(AsFloat(a[w]))) << name;
    }
  }
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v2 = vpack.i.bf16 v1, v1} {vtanh.bf16 v2} {v3 = vpop.eup} "
                 "{v10 = vunpack.i.h.bf16 v3}",
                 {a}));
  const float x = numerics::RoundToBf16(AsFloat(a[77]));
  EXPECT_EQ(AsFloat(out[0][77]), numerics::RoundToBf16(numerics::Tanh(x)));
}

TEST(SemanticsTest, LoadsAndStoresInTheirForms) {
  const Words a = Mixed(41);
  const Words b = Mixed(42);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v10 = vld.bcast [1024]} "  // row 2 of v1
                 "{v11 = vld.str [0], stride=4096, group=4} "
                 "{m1 = vcmask lanes=0:64, sublanes=0:8} "
                 "{vst [65536], v1} {vst.msk [65536], v2, m1} "
                 "{v12 = vld [65536]} "
                 "{vst.str [131072], stride=1024, group=2, v1} "
                 "{vst.str.msk [131072], stride=1024, group=2, v2, m1} "
                 "{v13 = vld [131072]} {v14 = vld [135168]} "
                 "{v15 = vld.even.odd.slanes1 [1024]}",
                 {a, b}, 6));
  for (int s = 0; s < 8; ++s) {
    for (int l = 0; l < kLanes; ++l) {
      EXPECT_EQ(out[0][At(s, l)], a[At(2, l)]);
      EXPECT_EQ(out[5][At(s, l)], a[At(2 + s / 2, l)]);
      EXPECT_EQ(out[1][At(s, l)], s < 4 ? a[At(s, l)] : b[At(s - 4, l)]);
      const uint32_t merged = l < 64 ? b[At(s, l)] : a[At(s, l)];
      EXPECT_EQ(out[2][At(s, l)], merged);
      EXPECT_EQ(out[3][At(s, l)], merged);  // stride 1024, group 2: dense
    }
  }
}

TEST(SemanticsTest, ScalarsAndPredicates) {
  const char kCode[] =
      "{s1 = smov 17 ; s2 = smov -5} {s3 = sadd.s32 s1, s2} "
      "{s4 = ssub.s32 s1, 20} {s5 = smul.u32 s1, s2} {s6 = sand.u32 s1, 16} "
      "{s7 = sshll.u32 s1, 2} {s8 = sshra.s32 s2, 1} {s9 = sshrl.u32 s2, 28} "
      "{s10 = smax.s32 s1, s2} {s11 = smin.s32 s1, s2} {s12 = sor.u32 s1, 2} "
      "{s13 = sxor.u32 s1, 1} {p1 = scmp.lt.s32 s2, 0} "
      "{p2 = scmp.lt.u32 s2, 0} {s14 = scalar_select p1, s1, s2} "
      "{s15 = scalar_select p2, s1, 99} {sdivrem.u32 s1, 5} {nop 1} "
      "{s16 = spop.drf} {s17 = spop.drf} {sst [64], s16} {s18 = sld [64]} "
      "{p3 = pneg p1} {p4 = pand p1, p3} {p5 = por p1, p3} {s19 = smov 0} "
      "{@p4 s19 = smov 1} {@!p4 s20 = smov 2} {@p5 s21 = smov 3} ";
  const int32_t kWant[] = {17, -5, 12, -3, -85, 16, 68, -3, 15, 17, -5,
                           19, 16, 17, 99, 3,   2,  3,  0,  2,  3};
  std::string code = kCode;
  for (int i = 0; i < 21; ++i) {
    absl::StrAppend(&code, "{v", 10 + i, " = vstv s", 1 + i, "}");
  }
  ASSERT_OK_AND_ASSIGN(const auto out, RunBundles(code, {}, 21));
  for (int i = 0; i < 21; ++i) {
    EXPECT_EQ(static_cast<int32_t>(out[i][500]), kWant[i]) << "s" << i + 1;
  }
}

TEST(SemanticsTest, VectorToScalarTakesTheFirstWord) {
  const Words a = Mixed(51);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{vpush v1} {s1 = spop} {v10 = vstv s1}", {a}));
  EXPECT_EQ(out[0][1000], a[0]);
}

TEST(SemanticsTest, RandomBitsAreTheStreamOfTheKey) {
  const Words key = Mixed(61);
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{setrngseed v1} {v10 = vrng} {v11 = vrng} {s1 = smov 7} "
                 "{setrngpos s1} {v12 = vrng}",
                 {key}, 3));
  const uint64_t lo = key[0] | uint64_t{key[1]} << 32;
  const uint64_t hi = key[2] | uint64_t{key[3]} << 32;
  for (int w = 0; w < kVregWords; w += 97) {
    EXPECT_EQ(out[0][w], numerics::HardwareRandomWord(lo, hi, w));
    EXPECT_EQ(out[1][w], numerics::HardwareRandomWord(lo, hi, 1024 + w));
    EXPECT_EQ(out[2][w], numerics::HardwareRandomWord(lo, hi, 7 * 1024 + w));
  }
}

TEST(SemanticsTest, BundlesReadBeforeTheyWrite) {
  const Words a = Mixed(71);
  const Words b = Mixed(72);
  // A swap, and a load of what the same bundle stores over.
  ASSERT_OK_AND_ASSIGN(
      const auto out,
      RunBundles("{v1 = vmov v2 ; v2 = vmov v1} "
                 "{vst [0], v1 ; v12 = vld [0]} {v13 = vld [0]} "
                 "{v10 = vmov v1 ; v11 = vmov v2}",
                 {a, b}, 4));
  EXPECT_EQ(out[0], b);
  EXPECT_EQ(out[1], a);
  EXPECT_EQ(out[2], a);
  EXPECT_EQ(out[3], b);
}

TEST(SemanticsTest, AddressesOutsideMemoryAreErrors) {
  using ::testing::HasSubstr;
  EXPECT_THAT(RunBundles("{v10 = vld [100]}", {}),
              StatusIs(absl::StatusCode::kInternal,
                       HasSubstr("not a multiple of 512")));
  EXPECT_THAT(RunBundles("{v10 = vld [1048064]}", {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("outside")));
  EXPECT_THAT(RunBundles("{s1 = smov 1} {p1 = scmp.eq.s32 s1, 1} "
                         "{shalt.err p1}",
                         {}),
              StatusIs(absl::StatusCode::kInternal, HasSubstr("bounds")));
}

}  // namespace
}  // namespace ptxla::isa
