// Gradients of a convolution's weights with the inputs in rows and the outputs
// in lanes, and the updates behind them in that order.
//
//   %c = f32[3,3,O,I] convolution(%x, %dy), dim_labels=01fb_01io->01fb
//   %g = f32[O,I,3,3] transpose(%c), dimensions={2,3,0,1}
//   %n = f32[O,I,3,3] add(%m, %g)                      // a result
//   ==> %n is done as f32[3,3,I,O] add(transpose(%m),
//           convolution(%x, %dy), dim_labels=01fb_01io->01bf)
//
// The TPU compiler lays a gradient out as its convolution names it, and
// layouts go from there to the update, to the weight and to its state. Where
// the entry has weights with their outputs in rows (PyTorch's, both of whose
// orders take as many bytes) these are copied into that order before the
// update and out of it behind it; where the other order pads less the gradient
// has that. (libtpu 0.0.42.1 on v5e and v6e: 18 steps with one to three
// convolutions.)
//
// Gradients with steps stay as they are: our kernel turns the operand that lies
// in rows of the result, which is the larger one then.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_GRADIENT_ORDER_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_GRADIENT_ORDER_H_

#include "hlo_backend/ir/computation.h"

namespace ptxla::hlo {

// Makes the gradients of updates in that order. `generation`: 2 to 7.
bool OrderGradients(Computation* c, int generation);

// Is this a gradient in that order?
bool IsOrderedGradient(const Instruction& value);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_GRADIENT_ORDER_H_
