// What a grid step of a transposed matrix has: blocks of 128 x 128, about
// `policy.transpose_tiles` base tiles in all, as the TPU compiler cuts it.
//
//   StepOfMatrix(context, 32, 24, 1)   // f32[4096,3072] on v6e: 8 x 3 blocks
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MATRIX_STEP_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MATRIX_STEP_H_

#include <cstdint>

#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

struct MatrixStep {
  int64_t down = 1, across = 1;  // blocks of the operand
};

// `down`, `across`: blocks of the operand's rows and columns. `pack`: numbers
// in a word, whose blocks come together.
MatrixStep StepOfMatrix(const KernelContext& context, int64_t down,
                        int64_t across, int pack);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_MATRIX_STEP_H_
