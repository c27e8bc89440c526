// Copies parameters to VMEM while other kernels run, by a copy-start some
// kernels before the first reader and a copy-done right before it:
//
//   %s = (f32[..]{..S(1)}, f32[..], u32[]{:S(2)}) copy-start(%p)
//   ... kernels before ...
//   %d = f32[..]{..S(1)} copy-done(%s)
//   ... kernels that read %d ...
//
// Only where memory-space-assignment has left room from the start to the last
// reader. Readers further apart than a few kernels have copies of their own.
//
// - Several readers: the copy starts before the kernel that comes before the
//   first, or so much earlier that kernels behind the program's first move as
//   many bytes; the parameter is read from HBM once instead of once for each.
// - One reader: so many kernels earlier that those touch as many bytes as HBM
//   brings in its latency and in the copy together, which hide no other copy. A
//   product (a dot or a convolution) has its operand whole even if it waits
//   for it, others stream what nothing hides. The TPU compiler does so (libtpu
//   0.0.42.1: 137 of 140 operands of a Llama step's products lie in VMEM, all
//   weights of a ResNet-18's convolutions, 123 of 143 parameters of a BERT
//   training step: all but those that the first kernels read, and two tables
//   of 15 MB).
//
// Of several readers of an array the first streams it where hardly anything
// hides the copy before it (the gradient of an RMS normalisation, libtpu
// 0.0.42.1 on v5e and v6e).
//
// A gather of rows has its table whole, hidden or not, where a transfer for
// each row takes longer: of f32[100000,128] on v6e for 4,096 rows, not for
// 2,048. (The TPU compiler copies the first gather's table for any number of
// rows, in the time of the program before; later ones for 4,096 rows up to 33
// MB, for 512 not: libtpu 0.0.42.1 on v6e.) So has one of single elements:
// 65,536 of 32 MB, not 1,024. A gather of planes that wants more bytes than the
// table has (256 tokens' weights of 4 experts) has it if others hide the copy.
//
// What is sorted, what a lone broadcast repeats and a lone dynamic slice is
// taken of come whole, hidden or not (prefetch_uses.h).
//
// Nothing runs before the program's first kernel, which streams what
// cross-program-prefetch has left; but a reduce that is the whole program has
// the array that it reduces as it is. One that others follow (a mean, divided
// behind its sum) streams. On v4 "VMEM" is the CMEM behind it
// (memory_space_assignment.h).
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_PREFETCH_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_PREFETCH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class VmemPrefetchPass : public Pass {
 public:
  absl::string_view name() const override { return "vmem-prefetch"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_VMEM_PREFETCH_H_
