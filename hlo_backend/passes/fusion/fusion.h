// Makes kernels: groups elementwise work, reduces and dots into fusions of the
// forms of analysis/fusion_rules.h, as the TPU compiler does:
//
//  - Work that reads one full-size array and gives no fewer bytes than it reads
//    is done again in each kernel that needs it, never stored (a dropout mask
//    from its random bits, a normalisation from its statistics, gelu before a
//    product). Broadcasts, iotas and scalar constants always are.
//  - Everything else joins the kernel of an operand of its shape, where no
//    cycle comes of it; kernels that it joins become one, so that an optimizer
//    update is one kernel with several results. At most one dot in each.
//  - A dot takes a convert of a parameter, or elementwise work on one array,
//    into its operand, and elementwise work on its result behind it.
//  - Reduces join the work before them, and one another where they read the
//    same array over the same dimensions; rows and columns too.
//  - Kernels that read the same become one, but not where one computes with
//    what is stored and the other converts it first: a bf16 residual beside an
//    f32 sum of squares, the bf16 sum of a gradient beside its f32 products
//    (libtpu 0.0.42.1 on v5e and v6e; 43 programs of pairs).
//  - Scalar work of one level is one kernel, but for counters of loops and
//    where their kernels start (passes/loops/loop_scalars.h).
//
// A reduce never joins the kernel of a dot, and work on the reduced shape is a
// kernel of its own. Linear: the search for cycles is bounded, and where it
// gives up, kernels stay apart.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class FusionPass : public Pass {
 public:
  // `of_one_kernel`: all of it was one kernel of another compiler's, whatever
  // the types.
  explicit FusionPass(bool of_one_kernel = false)
      : of_one_kernel_(of_one_kernel) {}
  absl::string_view name() const override { return "fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;

 private:
  const bool of_one_kernel_;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_FUSION_H_
