// Small kernels that feed one another become stages of one kernel
// (analysis/stages.h), as the TPU compiler has it: its loop fusions take
// slices, concatenations, transposes, casts and counting into the arithmetic
// that reads them, where ours are kernels by themselves.
//
//   low = slice(x), high = slice(x), minus = negate(high),
//   turned = concatenate(minus, low), out = fusion(x, turned)
//   ==> out = fusion(x), kind=kCustom, calls={ the five, one after another }
//
//  - Elementwise work and movements join the kernel that alone reads them, be
//    that elementwise work, a movement or a reduce. What a reduce makes starts
//    a kernel, as there (libtpu 0.0.42.1: llama, Mixtral and LSTM programs).
//  - What is computed once and read along a dimension stays a kernel, as there:
//    the cast weights of a normalisation, 1 / rms of its rows.
//  - What they read is small: it arrives in less time than memory takes to
//    answer (latency times bandwidth), which a kernel less does not wait for. A
//    kernel of one step does not move larger arrays while it computes.
//
// Not where cores share no memory but HBM (v5p): what one kernel hands to the
// next goes there (libtpu 0.0.42.1).
//
// After the other fusion passes, on a module with layouts.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_STAGING_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_STAGING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class StagingPass : public Pass {
 public:
  absl::string_view name() const override { return "staging"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_STAGING_H_
