// torch.autocast('xla', dtype=torch.bfloat16): while it lives, products take
// bf16 operands and losses and softmax f32 ones; everything else is computed in
// the types it finds. Layer norm is not on PyTorch/XLA's list, so it stays bf16
// on a bf16 input.
//
//   { Autocast autocast(&device); loss = model.Forward(batch); }
//   Backward(loss);
//
// A weight (an f32 leaf that requires a gradient) is cast once per block.
#ifndef PTXLA_LAZY_AUTOCAST_H_
#define PTXLA_LAZY_AUTOCAST_H_

#include "absl/container/flat_hash_map.h"
#include "lazy/tensor.h"

namespace ptxla::lazy {

class Autocast {
 public:
  explicit Autocast(Device* device, bool enabled = true);
  ~Autocast();
  Autocast(const Autocast&) = delete;
  Autocast& operator=(const Autocast&) = delete;

  Tensor ToBf16(const Tensor& x);

 private:
  Device* device_;
  Autocast* outer_;
  absl::flat_hash_map<const void*, Tensor> casts_;
};

// As the current block of x's device says; x itself outside of any.
Tensor AutocastToBf16(const Tensor& x);
Tensor AutocastToF32(const Tensor& x);

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_AUTOCAST_H_
