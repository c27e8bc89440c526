// Fourier transforms as products with their matrices, which the MXU makes, as
// the TPU compiler has them: f32 and c64, any number of dimensions, forward,
// inverse, of real numbers and to them.
//
// A length n = a b, a a power of two, takes two products and a factor between
// (four steps, W. M. Gentleman and G. Sande, 1966):
//
//   X[k1 + a k2] = sum_j2 ( w_n^(j2 k1) sum_j1 x[b j1 + j2] w_a^(j1 k1) )
//                  w_b^(j2 k2)
//
// other lengths one. Products are of complex numbers at the highest precision;
// x64-elimination makes three real ones of each. The matrices are computed on
// the device. A prime part of more than 8192 is left as it is.
//
//   y = c64[64,1024] fft(x), fft_type=FFT, fft_length={1024}
//   => reshape to [64,128,8], transpose to [8,64,128], dot with [128,128],
//      multiply by [8,1,128], dot with [8,8], transpose, reshape
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FFT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FFT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class FftExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "fft-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_FFT_EXPANDER_H_
