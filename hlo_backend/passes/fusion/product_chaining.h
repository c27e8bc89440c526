// A product whose rows are finished (`row-fusion`) and the product that alone
// reads them become one kernel, a chain (analysis/product_chain.h): attention
// whose scores never leave a step, whatever their number.
//
// Measured attention on v6e is such a kernel (C-SDPA): a head takes as long
// among 32 as among 2, 0.49 us with 128 rows, where the two products and the
// softmax between them are 892 bundles in a row; with scores in memory between
// two kernels nothing explains it. libtpu 0.0.42.1 has two or three kernels.
//
// `policy.chain_rows` says how many rows a step must be able to hold. Chips
// without it have no chains: nothing is measured there, and the TPU compiler is
// followed. So are scores that the program writes keys first (score_order.h),
// as JAX's einsum does, of fewer than 128 queries or keys, and of heads of a
// depth below 64: no such attention is measured, a step of one head would be
// short, and its rows few lanes. Keys and values whose heads lie in the rows of
// tiles are read there (operands_in_place.h), 8 heads a step, by kernels of
// their own; finished scores that fit VMEM stay there between them
// (StaysInVmem).
//
// After the fusion passes, on a module with layouts.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_PRODUCT_CHAINING_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_PRODUCT_CHAINING_H_

#include "chips/chip_spec.h"
#include "hlo_backend/ir/instruction.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Has the chip chains of such scores, [.., queries, keys]?
bool HasChains(const chips::ChipSpec& chip, const Instruction& dot);

// It has, and both dots read planes: rows that the first makes may
// be handed on to the second inside of a kernel.
bool MayBeChained(const Instruction& dot, const Instruction& next,
                  const chips::ChipSpec& chip);

// It has, and the finished scores of `dot` fit VMEM where the values that they
// are `made` of do not: in HBM they would take twice as long as attention of
// such scores was measured to (C-SDPA: 32 heads of 1,024 x 1,024 as fast per
// head as 8).
bool StaysInVmem(const Instruction& dot, const Instruction& values,
                 const Instruction& made, const chips::ChipSpec& chip);

class ProductChainingPass : public Pass {
 public:
  absl::string_view name() const override { return "product-chaining"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_PRODUCT_CHAINING_H_
