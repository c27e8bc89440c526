// What a lazy node needs besides its operands. Part of the node's hash, as the
// hash seed of PyTorch/XLA's nodes carries it.
#ifndef PTXLA_LAZY_ATTRIBUTES_H_
#define PTXLA_LAZY_ATTRIBUTES_H_

#include <cstdint>
#include <variant>
#include <vector>

#include "lazy/device_data.h"
#include "lazy/op_kind.h"

namespace ptxla::lazy {

struct DataAttrs {  // device_data
  DeviceDataPtr data;
};
struct ConstantAttrs {  // Constant; moving_average: the share of the new value
  double value = 0;
};
// permute: the permutation. view, expand: the result's dimensions. sum: the
// dimensions that are summed. softmax, log_softmax and their backward forms,
// index_select, stack: one dimension.
struct DimsAttrs {
  DimVector dims;
  bool keepdim = false;  // sum, mean
};
struct SliceAttrs {  // select, unselect, generic_slice; update_slice (starts)
  DimVector starts, limits;
};
struct BatchNormAttrs {  // native_batch_norm, native_batch_norm_backward
  double epsilon = 0;
  int64_t feature = 1;   // the dimension that is not normalised over
  bool training = true;  // false: by the running mean and variance
};
// convolution_overrideable and its backward form, max_pool2d and its backward
// form: per spatial dimension; both sides are padded alike.
struct WindowAttrs {
  DimVector sizes, strides, padding;
};
struct NllLossAttrs {  // nll_loss, nll_loss_backward: labels without loss
  int64_t ignore_index = -100;
};
struct CollectiveAttrs {  // cross_replica_sum; every result is scaled
  std::vector<std::vector<int64_t>> groups;
  double scale = 1;
  bool pin_layout = true;
};

using NodeAttrs = std::variant<std::monostate, DataAttrs, ConstantAttrs,
                               DimsAttrs, SliceAttrs, BatchNormAttrs,
                               WindowAttrs, NllLossAttrs, CollectiveAttrs>;

// Equal attributes have equal hashes; the identity of a buffer is not in it
// (a step's graph must hash like the last one's).
uint64_t HashOf(const NodeAttrs& attrs);

// Whether a node of this kind may have so many operands and these attributes.
bool FitsKind(OpKind kind, int operands, const NodeAttrs& attrs);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_ATTRIBUTES_H_
