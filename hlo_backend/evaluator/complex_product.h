// Products of numbers; those of complex ones are spelled out, as operator* of
// std::complex may go through libgcc, with other bits.
#ifndef PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_PRODUCT_H_
#define PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_PRODUCT_H_

#include <complex>

namespace ptxla::hlo {

inline std::complex<double> Times(std::complex<double> a,
                                  std::complex<double> b) {
  return {a.real() * b.real() - a.imag() * b.imag(),
          a.real() * b.imag() + a.imag() * b.real()};
}
inline double Times(double a, double b) { return a * b; }

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_EVALUATOR_COMPLEX_PRODUCT_H_
