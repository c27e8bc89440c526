// What a convolution is made of, while a pass brings it into another form, and
// what of its operands' making is the convolution's own: zeros around and
// between the input's elements, transposes, reversed kernels.
//
//   convolution(pad(x, 0), transpose(w)), window={size=3x3}
//   ==> convolution(x, w), window={size=3x3 pad=1_1x1_1}, dim_labels=...
#ifndef PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_PARTS_H_
#define PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_PARTS_H_

#include "hlo_backend/ir/attributes.h"
#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

struct ConvolutionParts {
  static ConvolutionParts Of(const Instruction& convolution);

  Instruction *x = nullptr, *w = nullptr;
  ConvAttrs attrs;
  DimVector result;  // sizes of its dimensions
};

// Behind the transposes of the input is a pad that FoldIntoWindow takes.
bool FoldsPad(const ConvolutionParts& parts);

// Takes the operands of pads, transposes and reversals in their place, and says
// in the window and the dimensions' numbers what these did.
void FoldIntoWindow(ConvolutionParts* parts);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_PRODUCTS_CONVOLUTION_PARTS_H_
