// The k largest (smallest) as a stable sort with positions, and its first k:
//
//   topk, custom call TopK     order of all values, NaN with a sign bit of 0
//                              largest; of equal ones the first
//   ApproxTopK                 by its comparator; exact, so any recall target
//                              is met
//   PartialReduce              the first of elements that share a place
//                              (partial_reduce.h); else as ApproxTopK
//
// Of a long row the first k of each lane are found first, and the first k of
// those: fewer stages, and most of them without partners in other lanes. (The
// TPU compiler has the same for one row, but not for an array of one dimension,
// nor where only the k-th value is read; libtpu 0.0.42.1.)
//
//   topk(f32[8,32000]), k=8  ==>  sort(f32[8,250,128]) along 250, slice to 8,
//                                 sort(f32[8,1024]) by value and position
//
// Unimplemented: an approximate top-k whose configuration says no dimension.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_TOPK_EXPANDER_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_TOPK_EXPANDER_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class TopkExpanderPass : public Pass {
 public:
  absl::string_view name() const override { return "topk-expander"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_TOPK_EXPANDER_H_
