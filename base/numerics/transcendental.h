// Transcendental functions of floats, the same bits on every machine: own
// arithmetic in double, no call of libm but for correctly rounded ones (sqrt,
// fma-free). Within 1 ulp of the true value; NaN and infinity as in C.
//
// The first group are the functions of the TPU's transcendental unit (EUP:
// vpow2, vlog2, vrcp, vrsqrt, vtanh; from v6e on also verf, vsinq, vcosq). The
// bundle interpreter executes EUP instructions with them, and the lowering
// composes the rest from them (base/numerics/recipes.h).
//
//   Exp2(x * kLog2E)        // how a TPU computes exp(x)
#ifndef PTXLA_BASE_NUMERICS_TRANSCENDENTAL_H_
#define PTXLA_BASE_NUMERICS_TRANSCENDENTAL_H_

namespace ptxla::numerics {

inline constexpr float kLog2E = 1.44269504088896340736f;
inline constexpr float kLn2 = 0.693147180559945309417f;

// What the EUP computes.
float Exp2(float x);
float Log2(float x);
float Rcp(float x);    // 1 / x, correctly rounded
float Rsqrt(float x);  // 1 / sqrt(x); Rsqrt(0) = inf, Rsqrt(-x) = NaN
float Tanh(float x);
float Sigmoid(float x);  // (1 + tanh(x)) / 2
float Erf(float x);
float Sin(float x);  // any finite x, with exact argument reduction
float Cos(float x);

// What HLO has besides.
float Exp(float x);
float Expm1(float x);
float Log(float x);
float Log1p(float x);
float Sqrt(float x);  // correctly rounded
float Cbrt(float x);
float Logistic(float x);  // 1 / (1 + exp(-x))
float Pow(float x, float y);
float Tan(float x);
float Asin(float x);
float Acos(float x);
float Atan2(float y, float x);
float Sinh(float x);
float Cosh(float x);
float Asinh(float x);
float Acosh(float x);
float Atanh(float x);

}  // namespace ptxla::numerics

#endif  // PTXLA_BASE_NUMERICS_TRANSCENDENTAL_H_
