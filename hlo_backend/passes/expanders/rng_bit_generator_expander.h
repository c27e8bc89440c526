// rng_three_fry and rng_philox as u32 arithmetic, whose bits XLA fixes: those
// of Threefry-2x32 (20 rounds) and Philox-4x32 (10 rounds) of J. Salmon et al.,
// "Parallel random numbers: as easy as 1, 2, 3" (SC 2011). rng_default is the
// hardware's generator, and stays.
//
//   (u64[2], u32[1000]) rng-bit-generator(s), algorithm=rng_three_fry
//   => 500 counters from s[1], the rounds with the key s[0], the two words of a
//      block side by side, and s[1] + 500
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RNG_BIT_GENERATOR_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RNG_BIT_GENERATOR_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class RngBitGeneratorExpanderPass : public Pass {
 public:
  absl::string_view name() const override {
    return "rng-bit-generator-expander";
  }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_RNG_BIT_GENERATOR_EXPANDER_H_
