// Sums of a grouped product that wait in scratch over the steps of one block of
// the result: cleared in the first, stored in the last.
//
//   RaggedSums sums(call, plan, parts.sums, result, rows, &b);
//   sums.Clear();
//   ...                       // the step's products add to them
//   sums.Store(into);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_SUMS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_SUMS_H_

#include <cstdint>

#include "absl/functional/function_ref.h"
#include "hlo_backend/ir/ragged_call.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_stream.h"
#include "hlo_backend/lowering/products/ragged_store.h"
#include "hlo_backend/lowering/products/ragged_tiling.h"
#include "hlo_backend/lowering/products/ragged_windows.h"

namespace ptxla::lowering {

class RaggedSums {
 public:
  // All must outlive it.
  RaggedSums(const hlo::RaggedCall& call, const RaggedTiling& plan,
             const BlockPlace& sums, const BlockPlace& result,
             const RaggedRows& rows, codegen::CodeBuilder* b)
      : call_(call),
        plan_(plan),
        sums_(sums),
        result_(result),
        rows_(rows),
        b_(*b) {}

  // In the first step of a block.
  void Clear();
  // In the last one: whole blocks, or what of them is the group's.
  void Store(RaggedStore::Into into);

 private:
  // Of all steps of a block, in the dimensions that add to it.
  void InStep(bool first, absl::FunctionRef<void()> emit);
  void StoreRows(RaggedStore::Into into);
  // A loop over rows of tiles of the block: code for tile `c` of one, with the
  // addresses of the row in the sums and in the result.
  void EachRowTile(
      const char* label,
      absl::FunctionRef<void(codegen::Sca, codegen::Sca, int64_t)> emit);

  const hlo::RaggedCall& call_;
  const RaggedTiling& plan_;
  const BlockPlace& sums_;
  const BlockPlace& result_;
  const RaggedRows& rows_;
  codegen::CodeBuilder& b_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_SUMS_H_
