// Cuts reshapes of arrays with large planes into steps that kernels know:
// dimensions regroup from the minor ones on, one group after the other; rows
// that are joined or parted are planes laid one behind the other; narrow types
// regroup their minor dimensions as words.
//
//   f32[8,196,768] reshape(f32[8,14,14,16,16,3] x)       // patches of images
//   ==> reshape(f32[8,14,14,768] reshape(x))
//   f32[1,12550001] reshape(f32[500,251,100] x)          // a row
//   ==> reshape(f32[12550001] reshape(x))                // named only
//   bf16[60003,1007] reshape(bf16[3,20001,1007] x)       // rows of sequences
//   ==> concatenate(x's three planes)
//
// Only where the planes of one side that a plane of the other takes fill a good
// part of VMEM; others are one kernel, and so are rows of whole tiles side by
// side (analysis/lane_reshape.h) and rows of which one tile of columns fits
// (lowering/movement/column_cut.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_SPLITTER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_SPLITTER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class ReshapeSplitterPass : public Pass {
 public:
  absl::string_view name() const override { return "reshape-splitter"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESHAPE_SPLITTER_H_
