// Work on groups of a dimension is done in the dimensions of the array that it
// reads and of the one that it makes: a group normalisation of channels in
// groups of 10 is one of channels, whose sums become those of groups where
// they are small.
//
//   %g = f32[8,4096,32,10] reshape(f32[8,4096,320] %x)
//   %s = f32[8,32] reduce(%g, 0), dimensions={1,3}
//   %d = subtract(%g, broadcast(%s), dimensions={0,2})
//   ROOT reshape(%d)
//   ==>
//   %s = reduce(reshape([8,320] -> [8,32,10], reduce(%x), {1}), {2})
//   ROOT subtract(%x, broadcast(reshape(broadcast(%s, [8,32,10]))), {0,2})
//
// What is elementwise and connected changes its shape together, and only where
// fewer bytes go through reshapes at its borders afterwards. Groups of which
// nothing else is reduced (scales of blocks of a row) stay: their numbers
// would be as large as the array. Reshapes that keep the minor dimension, of
// work that needs no other dimensions, are left to reshape-mover.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNGROUPING_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNGROUPING_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class UngroupingPass : public Pass {
 public:
  absl::string_view name() const override { return "ungrouping"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_UNGROUPING_H_
