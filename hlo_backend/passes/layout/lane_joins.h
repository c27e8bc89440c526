// Work on parts of the lanes of rows, whose results are put together to rows of
// the same width, is done on whole rows: a rotary embedding is one kernel.
//
//   %a = f32[8,64] slice(%x), slice={[0:8], [0:64]}       // x: f32[8,128]
//   %b = f32[8,64] slice(%x), slice={[0:8], [64:128]}
//   f32[8,128] concatenate(negate(%b), %a), dimensions={1}
//   ==>
//   %turned = f32[8,128] concatenate(%b, %a)    // LaneRotation: read so
//   f32[8,128] select(lane < 64, negate(%turned), %turned)
//
// Rows are at most one tile wide. What the parts are made of: elementwise work
// that nobody else reads, slices of the lanes of arrays of the result's width,
// and broadcasts; small arrays that differ from lane to lane are repeated.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_JOINS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_JOINS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class LaneJoinsPass : public Pass {
 public:
  absl::string_view name() const override { return "lane-joins"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_LANE_JOINS_H_
