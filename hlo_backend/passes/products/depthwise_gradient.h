// The gradient of depthwise weights: a sum of products per tap and feature.
//
//   dw[tap, c] = sum over n and p of x[n, p + tap - padding, c] * dy[n, p, c]
//
// As a dense convolution, of whose result each feature keeps one number, the
// arrays multiply all pairs of features. As in the TPU compiler the vector
// units add up what is asked for (lowering/pooling), from planes of the batch
// in rows and the features in lanes:
//
//   convolution(x, dy), dim_labels=f01b_i01o->01bf, batch_group_count=256
//   ==> convolution(x', dy'), dim_labels=01fb_01io->01bf, batch_group_count=256
//
// 3x3, bf16[64,14,14,576], v5e: 504 -> 34 us (libtpu 0.0.42.1 estimates 26).
//
//   Instruction* dw = DepthwiseGradient(convolution);
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DEPTHWISE_GRADIENT_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DEPTHWISE_GRADIENT_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// A gradient that has a kernel on the vector units, in the kernel's order of
// dimensions or not. Others: of several features a group, of two types, of a
// batch that does not fill tiles of rows, of more taps than one kernel adds up.
bool IsGradientOfDepthwise(const Instruction& convolution);

// The value that stands for one; null: it is in the kernel's order.
Instruction* DepthwiseGradient(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_DEPTHWISE_GRADIENT_H_
