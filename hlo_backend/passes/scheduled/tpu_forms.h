// Forms that TPU compilers write into optimised, scheduled modules, as the
// plain ones that kernels are made from. Order, fusions, layouts, memory spaces
// and asynchronous pairs stay as they are; a module of our own does not change.
//
// - fusions inside of fusions (of bitcasts, of what is computed with an
//   operand): their bodies take their places
// - products written as convolutions: dots (convolution_to_dot.h)
// - windows that cover a whole dimension: reduces (whole_windows.h)
// - AssumeGatherIndicesInBound, Sharding and other annotations of a value: the
//   value
// - bitcasts that change nothing, and copies of a fusion's operand to other
//   tiles in the same order of dimensions
// - reshapes, copies, pads and other movements to another float type: a convert
//   before
// - reduces of f32 that store bf16: a convert behind
// - reshapes to the same dimensions: copies
// - copies from or to rows that lie one behind the other: transposes
//   (linear_copies.h)
// - values without a layout: the chip's
// - scalars in SMEM: the scalar unit's, with copies where others read or make
//   them, or in HBM (scalar_unit.h)
// - arrays in CMEM: in VMEM, whose addresses go on there
// - a fusion of a slice or a copy between bitcasts: that alone
// - a bitcast that is the result of a fusion, or the first thing that happens
//   to an operand of one: outside of the fusion, where it costs nothing
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TPU_FORMS_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TPU_FORMS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TpuFormsPass : public Pass {
 public:
  absl::string_view name() const override { return "tpu-forms"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_TPU_FORMS_H_
