// Sums of 64-bit numbers in operations whose bodies cannot carry from word to
// word, before the types become pairs of words (x64_elimination.h):
//
//   reduce-window, scatter   integers that are added: digits of 16 bits (of 8,
//                            where more than 2^16 come together) are added up
//                            as u32, then put together with their carries
//   reduce-window            any other: slices, combined (window_expander.h)
//   dot                      of f64: products, and a reduce of them
//
//   s64[8,128] reduce-window(s64[8,128] x, 0), to_apply=add
//   ==> reduce-window(u32 x & 65535) + reduce-window(u32 x >> 16 & 65535) << 16
//       + ...
#ifndef PTXLA_HLO_BACKEND_PASSES_X64_X64_SUM_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_X64_X64_SUM_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class X64SumExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "x64-sum-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_X64_X64_SUM_EXPANDER_H_
