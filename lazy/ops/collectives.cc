#include <utility>

#include "base/check.h"
#include "lazy/ir.h"
#include "lazy/ops.h"

namespace ptxla::lazy::ops {

void AllReduceInPlace(const std::vector<Tensor>& tensors, double scale,
                      std::vector<std::vector<int64_t>> groups) {
  if (tensors.empty()) return;
  Device* d = tensors[0].device();
  std::vector<Value> values;
  values.reserve(tensors.size());
  for (const Tensor& t : tensors) {
    CHECK(t.type() == tensors[0].type())
        << "one all-reduce takes tensors of one type";
    values.push_back(t.ir());
  }
  const Value sum = ir::CrossReplicaSum(
      d, values, d->AllReduceToken(),
      CollectiveAttrs{std::move(groups), scale, /*pin_layout=*/true});
  for (size_t i = 0; i < tensors.size(); ++i) {
    tensors[i].ReplaceValue({sum.node, static_cast<int>(i)});
  }
  d->SetAllReduceToken({sum.node, static_cast<int>(tensors.size())});
}

}  // namespace ptxla::lazy::ops
