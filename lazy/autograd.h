// Backward(): runs autograd's graph from a loss to the leaves, in the
// order of PyTorch's engine: of the steps that have all their gradients, the
// one recorded last runs first; leaves accumulate at once. So a traced training
// step has the same operations in the same order as the real one.
//
//   Backward(loss);
//   for (const Tensor& p : parameters) use(p.grad());
//
// A gradient is brought to the shape and type of what it belongs to: summed
// over broadcast dimensions, then cast. The graph is consumed.
#ifndef PTXLA_LAZY_AUTOGRAD_H_
#define PTXLA_LAZY_AUTOGRAD_H_

#include "lazy/tensor.h"

namespace ptxla::lazy {

// `root` must have history (CHECK). Its gradient is `grad`, of its shape; a
// scalar needs none: 1.
void Backward(const Tensor& root, const Tensor& grad = {});

}  // namespace ptxla::lazy

#endif  // PTXLA_LAZY_AUTOGRAD_H_
