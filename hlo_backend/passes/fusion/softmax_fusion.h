// Makes one kernel of elementwise work whose rows are reduced and then read
// again with what that gives: a softmax reads its array once and writes it
// once.
//
//   m = reduce(x) max          ==>  fusion(x), kind=kInput:
//   e = exp(x - broadcast(m))         all of it, root e / broadcast(s)
//   s = reduce(e) add
//   y = e / broadcast(s)
//
// libtpu 0.0.42.1 writes such a reduce and its broadcast as a reduce-window as
// wide as the row, which is fused as elementwise work is: of arrays of
// `policy.softmax_rank` dimensions and more, where nothing but broadcasts along
// the rows reads the values (the mean of a normalisation is scaled first, and
// stored). Softmaxes of matrices are three kernels there, and here; on v2 and
// v3 all are. So are those from plane to plane, and of rows of more than 8,192
// numbers (logits of a vocabulary): who stores nothing reads the array once
// more. Rows of more than 4,096 have a kernel for each reduce, and so has a sum
// that is rounded to f16 before it is broadcast. Of x - m and
// e^(x - m), both read behind it, the first is stored: it gives the second. A
// softmax over rows (keys first, keys_first.h) that one product reads stays
// apart too: it is finished in front of that. Runs after row-fusion, before
// fusion.
#ifndef PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_FUSION_H_
#define PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_FUSION_H_

#include "hlo_backend/passes/pass.h"

namespace ptxla::hlo {

class SoftmaxFusionPass : public Pass {
 public:
  absl::string_view name() const override { return "softmax-fusion"; }
  absl::StatusOr<bool> Run(Module* module, const PassContext& context) override;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_FUSION_SOFTMAX_FUSION_H_
