// A bitcast-convert to a type of another width takes or gives a minor
// dimension: shifts and conversions of whole words, which kernels have.
//
//   %b = u8[5,4] bitcast-convert(u32[5] %x)
//   ==> concatenate(u8[5,1] convert(%x >> 0), convert(%x >> 8), ...)
//   %w = f32[5] bitcast-convert(u16[5,2] %h)
//   ==> bitcast-convert(u32[5] %h[:,0] | %h[:,1] << 16)
//
// One of the same width below 32 bits goes through words, too, but of f16 and
// floats of 8 bits, which kernels have (lowering/fusion/narrow_bits.h):
//
//   %a = u16[5] bitcast-convert(bf16[5] %h)
//   ==> convert(bitcast-convert(f32[5] convert(%h)) >> 16)
//
// Of types of 8, 16 and 32 bits; others stay.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BITCAST_CONVERT_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BITCAST_CONVERT_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class BitcastConvertExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "bitcast-convert-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_BITCAST_CONVERT_EXPANDER_H_
