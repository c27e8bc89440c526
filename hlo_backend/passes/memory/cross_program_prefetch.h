// Gives the largest array that products alone read a place in VMEM for the
// whole program, before anything else has one:
//
//   %s = (bf16[2048,8192]{..S(1)}, ...) copy-start(%w), before all kernels
//   ... kernels ...
//   %d = bf16[2048,8192]{..S(1)} copy-done(%s), before the first reader
//   ... products that read %d ...
//
// The TPU compiler copies it while the program before still runs, where there
// is one; a program that is timed alone waits for it (199 of 199 measured
// products).
//
// Which parameter (DERIVED: libtpu 0.0.42.1, about 200 programs on v4, v5e,
// v5p, v6e and tpu7x):
//
// - All that is done with it is that dots and convolutions multiply it, as it
//   is or converted (s8 weights), or that rows of it are gathered. One that is
//   added (a residual) or reduced as well, or multiplied only behind other
//   arithmetic, is none; nor is what products of one row read. What two
//   products that are one kernel read comes in their steps.
// - The largest that fits beside kernels' windows; of equal ones that of which
//   more results are made, then that which is needed sooner, then the first.
//   If the product that reads both walks members inside of rows (SharesPlanes
//   in prefetch_uses.h), its right operand.
//
// Results of kernels have what it leaves of VMEM: with f32[1024,5120] weights
// on v6e the f32[4096,5120] product meets HBM, though VMEM could hold it alone.
#ifndef PTXLA_HLO_BACKEND_PASSES_MEMORY_CROSS_PROGRAM_PREFETCH_H_
#define PTXLA_HLO_BACKEND_PASSES_MEMORY_CROSS_PROGRAM_PREFETCH_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class CrossProgramPrefetchPass : public Pass {
 public:
  absl::string_view name() const override { return "cross-program-prefetch"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_MEMORY_CROSS_PROGRAM_PREFETCH_H_
