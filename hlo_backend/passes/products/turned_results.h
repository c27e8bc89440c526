// Products whose columns are to lie between their rows, as members of a batch
// that share the weights: a projection whose heads come before the sequence.
//
//   %d = bf16[4096,1024] dot(%x, %w)                   // x: [4096,512]
//   %r = bf16[4,1024,16,64] reshape(%d)
//   %t = bf16[4,16,64,1024] transpose(%r), dimensions={0,2,3,1}
// ==>
//   %m = bf16[4,1024,512] reshape(%x)
//   %s = bf16[4,512,1024] broadcast(%w), dimensions={1,2}
//   %p = bf16[4,1024,1024] dot(%s, %m), both batch dimensions 0
//   %t = bf16[4,16,64,1024] reshape(%p)
//
// and the same for a product with its sides exchanged, dot(%w, %x), whose
// columns are to come apart within tiles of lanes: members of 197 tokens are
// never one matrix then. The TPU compiler makes it in one kernel, too. Members
// of fewer than 128 rows or columns stay.
//
// So are rows that meet each of several weights (experts), where results lie by
// weights: members that share the rows, and the weights stay as they lie.
//
//   %k = bf16[512,8,1024] transpose(%w), dimensions={1,0,2}   // [8,512,1024]
//   %d = bf16[256,8192] dot(%x, bf16[512,8192] reshape(%k))   // x: [256,512]
//   %t = bf16[8,256,1024] transpose(bf16[256,8,1024] reshape(%d)), {1,0,2}
// ==>
//   %s = bf16[8,256,512] broadcast(%x), dimensions={1,2}
//   %t = bf16[8,256,1024] dot(%s, %w), both batch dimensions 0
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_RESULTS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_RESULTS_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TurnedResultsPass : public Pass {
 public:
  absl::string_view name() const override { return "turned-results"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext&) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_TURNED_RESULTS_H_
