// Collectives of groups of one device give what they are given (for
// ragged-all-to-all see ragged_exchange.h):
//
//   %r = f32[8] all-reduce(%x), replica_groups={{0},{1}}   ==> %x
//   %s = (f32[8], f32[8]) all-gather-start(%x)   (one device in all)
//   %d = f32[8] all-gather-done(%s)                        ==> %x
//   %z = f32[8] collective-permute(%x), source_target_pairs={}  ==> zeros
//
// Partitioners leave them where an axis of the mesh has one device.
#ifndef PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TRIVIAL_COLLECTIVES_H_
#define PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TRIVIAL_COLLECTIVES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TrivialCollectivesPass : public Pass {
 public:
  absl::string_view name() const override { return "trivial-collectives"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SIMPLIFY_TRIVIAL_COLLECTIVES_H_
