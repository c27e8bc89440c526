// Slices of what a reshape cuts lanes into are slices of the lanes, and what is
// put together to become lanes is put together as lanes: a projection to
// queries, keys and values keeps the rows of its product.
//
//   %r = bf16[8,512,3,16,64] reshape(bf16[8,512,3072] %x)
//   %k = bf16[8,512,1,16,64] slice(%r), slice={..., [1:2], ...}
//   ==> reshape(slice(%x), slice={[0:8], [0:512], [1024:2048]})
//
//   %c = bf16[8,512,3,16,64] concatenate(%q, %k, %v), dimensions={2}
//   bf16[8,512,3072] reshape(%c)
//   ==> concatenate(reshape(%q), reshape(%k), reshape(%v)), dimensions={2}
//
// A transpose between the reshape and its slices is one of each slice. A
// product with weights of several dimensions is one with their lanes. It must
// be so for all readers: an array that is wanted whole as well stays.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_SLICES_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_SLICES_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LaneSlicesPass : public Pass {
 public:
  absl::string_view name() const override { return "lane-slices"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_SLICES_H_
