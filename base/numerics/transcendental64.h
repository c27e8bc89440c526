// The functions of transcendental.h on doubles: the same on every machine,
// within 4 ulp of the true value.
#ifndef PTXLA_BASE_NUMERICS_TRANSCENDENTAL64_H_
#define PTXLA_BASE_NUMERICS_TRANSCENDENTAL64_H_

namespace ptxla::numerics {

double Exp2(double x);
double Log2(double x);
double Rcp(double x);
double Rsqrt(double x);
double Tanh(double x);
double Erf(double x);
double Sin(double x);
double Cos(double x);
double Exp(double x);
double Expm1(double x);
double Log(double x);
double Log1p(double x);
double Sqrt(double x);
double Cbrt(double x);
double Logistic(double x);
double Pow(double x, double y);
double Tan(double x);
double Asin(double x);
double Acos(double x);
double Atan2(double y, double x);
double Sinh(double x);
double Cosh(double x);
double Asinh(double x);
double Acosh(double x);
double Atanh(double x);

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_TRANSCENDENTAL64_H_
