// How a result of the entry comes to lie in another order of dimensions than
// row-major, with as little movement as there can be:
//
//   ROOT t = f32[64,32]{0,1} transpose(x)   // nothing moves
//   ROOT d = f32[64,32]{0,1} dot(a, b)      // f32[32,64]{1,0} dot(b, a)
//   others                                  // a copy
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_LAYOUT_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_LAYOUT_H_

#include "hlo_backend/ir/instruction.h"

namespace ptxla::hlo {

// transpose(x) with the shape `y` lies where x lies if its layout is x's,
// permuted.
bool IsTransposeBitcast(const Instruction& t, const Shape& y);

// `value` with this layout: of a transpose (behind a reshape that only adds or
// drops dimensions of size 1, too) where that makes it a bitcast, the array
// itself; of a product of matrices that nobody else wants, the product of the
// transposed operands; other values are copied.
Instruction* WithLayout(Instruction* value, const Shape& wanted,
                        int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_RESULT_LAYOUT_H_
