// Products whose results stay in VMEM: nothing clamps their stores, so blocks
// that do not divide the array must leave its neighbours alone.
#include "absl/strings/substitute.h"
#include "gtest/gtest.h"
#include "tests/driver/verification/verify_text.h"
#include "tests/support/status_matchers.h"

namespace ptxla::driver {
namespace {

struct Size {
  int64_t m, n, k;
};

// Two results beside each other and an operand in VMEM, all of which are read
// after the product.
std::string Module(const Size& s, const std::string& type,
                   const std::string& tile) {
  return absl::Substitute(
      R"(HloModule m, is_scheduled=true
f {
  a = $0[$1,$3]{1,0:$4S(1)} parameter(0)
  b = $0[$3,$2]{1,0:$4} parameter(1)
  d = $0[$1,$2]{1,0:$4} dot(a, b), lhs_contracting_dims={1}, rhs_contracting_dims={0}
  h = $0[] constant(0.5)
  hb = $0[$1,$2]{1,0:$4} broadcast(h), dimensions={}
  e = $0[$1,$2]{1,0:$4} multiply(d, hb)
  ROOT t = ($0[$1,$2]{1,0:$4S(1)}, $0[$1,$2]{1,0:$4S(1)}) tuple(d, e)
}
ENTRY e {
  p = $0[$1,$3]{1,0:$4} parameter(0)
  b = $0[$3,$2]{1,0:$4} parameter(1)
  a = $0[$1,$3]{1,0:$4S(1)} negate(p)
  f = ($0[$1,$2]{1,0:$4S(1)}, $0[$1,$2]{1,0:$4S(1)}) fusion(a, b), kind=kOutput, calls=f
  x = $0[$1,$2]{1,0:$4S(1)} get-tuple-element(f), index=0
  y = $0[$1,$2]{1,0:$4S(1)} get-tuple-element(f), index=1
  c = $0[$1,$2]{1,0:$4} copy(x)
  d = $0[$1,$2]{1,0:$4} copy(y)
  o = $0[$1,$3]{1,0:$4} negate(a)
  ROOT t = ($0[$1,$2]{1,0:$4}, $0[$1,$2]{1,0:$4}, $0[$1,$3]{1,0:$4}) tuple(c, d, o)
})",
      type, s.m, s.n, s.k, tile);
}

void ExpectVerified(const Size& s) {
  for (const char* slice : {"v6e-1", "v5e-1"}) {
    for (const bool narrow : {true, false}) {
      const std::string hlo = Module(s, narrow ? "bf16" : "f32",
                                     narrow ? "T(8,128)(2,1)" : "T(8,128)");
      const auto v = VerifyText(hlo, slice);
      ASSERT_TRUE(v.ok()) << slice << ": " << v.status();
      EXPECT_TRUE(v->ok()) << slice << " " << s.m << "x" << s.n << "x" << s.k
                           << (narrow ? " bf16: " : " f32: ") << v->Line();
    }
  }
}

TEST(ResidentResultsTest, RowsThatNoBlockDivides) {
  ExpectVerified({1000, 384, 128});
  ExpectVerified({1032, 512, 256});
}

TEST(ResidentResultsTest, ColumnsThatNoBlockDivides) {
  ExpectVerified({64, 2944, 128});  // 23 tiles
  ExpectVerified({1024, 1408, 128});
}

TEST(ResidentResultsTest, BothAtOnce) { ExpectVerified({1160, 1664, 128}); }

TEST(ResidentResultsTest, SeveralBlocksOfK) {
  ExpectVerified({520, 1152, 1024});
}

}  // namespace
}  // namespace ptxla::driver
