// Functions of complex numbers, computed in double for c64 and c128.
// std::complex's own call libm, and its operator* may; these spell formulas out
// and give the same bits everywhere. Branch cuts are those of C.
//
//   complex_functions::Sqrt({-4, 0}) == {0, 2}
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_FUNCTIONS_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_FUNCTIONS_H_

#include <complex>

namespace ptxla::hlo::complex_functions {

using Z = std::complex<double>;

double Abs(Z x);
Z Multiply(Z x, Z y);
Z Divide(Z x, Z y);
Z Power(Z x, Z y);
// -i log((x + iy) / sqrt(x^2 + y^2))
Z Atan2(Z y, Z x);
Z Exp(Z x);
Z Expm1(Z x);
Z Log(Z x);
Z Log1p(Z x);
Z Sqrt(Z x);
Z Rsqrt(Z x);
Z Logistic(Z x);
Z Sign(Z x);  // x / |x|, 0 for 0
Z Sine(Z x);
Z Cosine(Z x);
Z Tan(Z x);
Z Sinh(Z x);
Z Cosh(Z x);
Z Tanh(Z x);
Z Asin(Z x);
Z Acos(Z x);
Z Asinh(Z x);
Z Acosh(Z x);
Z Atanh(Z x);

}  // namespace ptxla::hlo::complex_functions

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_FUNCTIONS_H_
