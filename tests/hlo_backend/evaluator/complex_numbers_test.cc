// Parts, lengths and roots of complex numbers where a part is infinite, NaN or
// 0.
#include "gtest/gtest.h"
#include "tests/hlo_backend/evaluator/evaluate_text.h"

namespace ptxla::hlo {
namespace {

TEST(ComplexNumbersTest, TheImaginaryPartOfARealNumberIsPositiveZero) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  x = f32[4] constant({-3, inf, nan, 1})
  i = f32[4] imag(x)
  y = f64[1] constant({-1})
  j = f64[1] imag(y)
  ROOT t = (f32[4], f64[1]) tuple(i, j)
})"),
            "( {0, 0, 0, 0}, {0} )");
}

// As XLA does it on the CPU (jaxlib 0.10.2), also where C says infinity.
TEST(ComplexNumbersTest, TheLengthOfAComplexNumberIsNaNWhereAPartIs) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  a = c64[4] constant({(nan, 1), (inf, nan), (-inf, 2), (3, -4)})
  ROOT r = f32[4] abs(a)
})"),
            "{nan, nan, inf, 5}");
}

TEST(ComplexNumbersTest,
     RootsOfComplexInfinitiesAreInfiniteAndTheirInversesZero) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  a = c64[2] constant({(inf, -inf), (-inf, 2)})
  b = c64[2] sqrt(a)
  c = c64[2] rsqrt(a)
  ROOT r = c64[4] concatenate(b, c), dimensions={0}
})"),
            "{(inf, -inf), (0, inf), (0, 0), (-0, -0)}");
}

TEST(ComplexNumbersTest, TheInverseRootOfComplexZeroIsInfinite) {
  EXPECT_EQ(ValueOf(R"(HloModule m
ENTRY e {
  a = f32[4] constant({0, -0.0, 0, 4})
  b = f32[4] constant({0, 0, -0.0, 0})
  c = c64[4] complex(a, b)
  r = c64[4] rsqrt(c)
  ROOT re = f32[4] real(r)
})"),
            "{inf, inf, inf, 0.5}");
}

}  // namespace
}  // namespace ptxla::hlo
