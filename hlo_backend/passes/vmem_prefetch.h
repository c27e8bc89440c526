// Copies a parameter that several near kernels read into VMEM once, by a
// copy-start before the kernel that comes before the first reader and a
// copy-done right before the first reader:
//
//   %s = (f32[..]{..S(1)}, f32[..], u32[]{:S(2)}) copy-start(%p)
//   ... the kernel before ...
//   %d = f32[..]{..S(1)} copy-done(%s)
//   ... kernels that read %d ...
//
// Only where memory-space-assignment has left room from the start to the last
// reader, and the readers lie within a few kernels: the parameter is then read
// from HBM once instead of once for each.
//
// An operand of a product (a dot or a convolution) is fetched for a single
// reader too, as the TPU compiler does (137 of 140 operands of a Llama step's
// products lie in VMEM, all weights of a ResNet-18's convolutions):
// its copy starts so many kernels earlier that those touch as many bytes as
// HBM brings in its latency and the copy together, at most before the second
// kernel of the program.
//
// Nothing runs before the program's first kernel: a product has the larger of
// its operands copied all the same (of equal ones the left), a reduce the array
// that it reduces as it is. On v4 "VMEM" is the CMEM behind it
// (memory_space_assignment.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_VMEM_PREFETCH_H_
#define PTXLA_HLO_BACKEND_PASSES_VMEM_PREFETCH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class VmemPrefetchPass : public Pass {
 public:
  absl::string_view name() const override { return "vmem-prefetch"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_VMEM_PREFETCH_H_
