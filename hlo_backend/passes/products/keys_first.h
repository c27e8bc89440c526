// Scores of an attention in the order in which the program writes them, keys
// before queries, up to the products that read them.
//
//   %s = f32[b,h,queries,keys] dot(%q, %k)     // marked, score_order.h
//   ... a softmax over dimension 3 ...
//   %o = dot(%v, %p), rhs_contracting_dims={3}
// ==>
//   %s = f32[b,h,keys,queries] dot(%k, %q)
//   ... a softmax over dimension 2 ...
//   %o = dot(%v, %p), rhs_contracting_dims={2}
//
// Maxima and sums over keys are then those of rows: additions of whole
// registers, where along lanes they are the XLUs' work, and values per query
// lie along lanes, as memory has them. Queries, keys and values of a small
// depth, which the entry has as [depth, sequence], are multiplied as they lie.
//
// Products that meet them (their gradient, which multiplies queries first)
// change their operands too.
//
// Where the result is moved anyway (values_first.h), a product of weights and
// values becomes one of values and weights, which takes the weights as they
// lie. Keys and values that queries of a group share are broadcast to them
// (spread_groups.h).
//
// The TPU compiler does so, and whatever order the program writes scores of
// batched operands in; here not on chips whose scores were measured in the
// order written (policy.chain_rows). Scores do where they fit VMEM beside what
// their products read, or are finished column by column (finished_columns.h),
// and where nothing of their size would have to be transposed: what else meets
// them is free in any order, or an array no larger than the operands of their
// product (a bias of each head).
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_KEYS_FIRST_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_KEYS_FIRST_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class KeysFirstPass : public Pass {
 public:
  absl::string_view name() const override { return "keys-first"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_KEYS_FIRST_H_
