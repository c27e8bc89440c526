// Reduces of which the cores of a chip would share nothing, in two: the first
// leaves values that each core has a part of, the second few enough for one.
//
//   f32[] reduce(f32[2048,4096]), dimensions={0,1}
//   ==> reduce(f32[2048] reduce(f32[2048,4096]), dimensions={1})
//   f32[128] reduce(f32[384,384,128]), dimensions={0,1}     // of short rows
//   ==> reduce(f32[384,128] reduce(f32[384,384,128]), dimensions={1})
//
// Sums of bf16 are f32 between the two. Only where cores share a program, and
// of arrays that take longer than a kernel more. libtpu 0.0.42.1 shares one
// kernel's steps there and adds up what its two cores have; ours write no
// results together.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_CORE_PARTIALS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_CORE_PARTIALS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CorePartialsPass : public Pass {
 public:
  absl::string_view name() const override { return "core-partials"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_CORE_PARTIALS_H_
