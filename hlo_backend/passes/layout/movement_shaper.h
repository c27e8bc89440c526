// Data movement that no kernel does at any size, as movements that kernels do:
//
//   elements of 8 bits (of 16, other than bf16) that change rows or lanes
//                              as 32-bit words, converted there and back
//   [1, 8, n] to [8, n / k, k] as a reshape of [8, n], for one
//   [.., n] to [.., n, 1]      as an exchange of the two minor dimensions
//   [.., n, 1] to [.., n], transposed
//                              as one transpose (dropped_lanes.h)
//   reversals of rows or few lanes, of large arrays
//                              as planes that are turned, of an array that lies
//                              so; of two dimensions, as rows of a table by
//                              number
//                              (reversed rows that lie whole in one step of
//                              a kernel stay, as libtpu 0.0.42.1 has them)
//   rows or lanes put together one by one
//                              as planes, which are turned once
//   steps along rows or lanes, and padding between them, of large arrays
//                              strided_slices.h, dilated_pads.h
//   updates of planes and lines beyond VMEM
//                              in parts (update_parts.h)
//
// Once, after all simplification and before transpose-splitter.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVEMENT_SHAPER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVEMENT_SHAPER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class MovementShaperPass : public Pass {
 public:
  absl::string_view name() const override { return "movement-shaper"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_MOVEMENT_SHAPER_H_
