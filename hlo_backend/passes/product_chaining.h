// Rows that find no room in VMEM between two kernels are handed on inside of
// one: a product whose rows are finished (`row-fusion`) and the product that
// alone reads them become a chain (analysis/product_chain.h).
//
// That is attention whose scores are larger than VMEM. Through HBM they would
// be written and read again, 4 bytes for each of them; in a chain a step makes
// them, and nothing is multiplied twice. Where they have room between the
// kernels, the TPU compiler's are two, and so are ours.
//
// `policy.chain_rows` says how many rows a step must be able to hold. Chips
// without it have no chains: VMEM of 16 MiB holds too few (v2 to v4), HBM takes
// scores about as fast as they are made (tpu7x), or nothing is measured that
// says other than the TPU compiler, which stores them (v5e, v5p).
//
// After the fusion passes, on a module with layouts.
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCT_CHAINING_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCT_CHAINING_H_

#include <cstdint>

#include "chips/chip_spec.h"
#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

// Rows of so many bytes go through a chain, where it has a step for them.
bool AreChained(int64_t bytes, const chips::ChipSpec& chip);

class ProductChainingPass : public Pass {
 public:
  absl::string_view name() const override { return "product-chaining"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCT_CHAINING_H_
