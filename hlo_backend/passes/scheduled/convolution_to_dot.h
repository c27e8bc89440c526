// Products that TPU compilers write as convolutions, as the dots that they are.
//
//   %c = f32[4,512,1024] convolution(%x, %w), window={size=1},
//        dim_labels=0bf_io0->0bf
//   ==> %d = f32[4,512,1024] dot(%x, bitcast(%w)), lhs_contracting_dims={2},
//   ...
//
// A spatial dimension of such a convolution is, as the pairs of positions that
// meet show, one of: a batch dimension (as many positions in both operands and
// the result, each meeting its own), a contracting one (result of 1), or a free
// one of the input (kernel of 1) or of the kernel (input of 1).
#ifndef PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CONVOLUTION_TO_DOT_H_
#define PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CONVOLUTION_TO_DOT_H_

#include "hlo_backend/ir/module.h"

namespace ptxla::hlo {

// What the positions of one spatial dimension are to each other.
enum class SpatialRole { kWindow, kBatch, kContracting, kInput, kKernel };
SpatialRole RoleOf(const WindowDim& window, int64_t input, int64_t kernel,
                   int64_t output);

// Makes a dot of `convolution` and puts it, behind a bitcast where dimensions
// of size 1 or their order differ, in its place. Its physical layout stays.
// False: it is none.
bool ReplaceByDot(Instruction* convolution);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_SCHEDULED_CONVOLUTION_TO_DOT_H_
