// The input of a convolution that lies with the batch outside
// (analysis/turned_input.h): each step's window of it is turned into scratch,
// where its planes lie as the products read them, in bf16 where the arrays
// take that.
//
//   window   f32[16 of the batch, 4 planes, 8 tiles of rows, 3 of lanes]
//   scratch  bf16[4, 64, 2 tiles of the batch, 3 of lanes]
//
// A register of the scratch is two strided loads: a row from each of eight
// members of the batch. Of bf16, which packs two rows of the window into a
// word, two loads give two registers.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TURNED_INPUT_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TURNED_INPUT_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/convolutions/convolution_block.h"
#include "hlo_backend/lowering/convolutions/convolution_operands.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

// Whether such an input can be turned for this block: the axis that lies in the
// window's rows is whole, and so are registers of the batch.
bool CanTurn(const ConvolutionForm& form, const ConvolutionBlock& block);

// The window of the input as it lies in HBM; its number.
int AddTurnedWindow(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const ConvolutionGrid& grid, Tiling* tiling);

// What a step's turned planes take of scratch, in bytes, and the cycles of
// making them.
struct TurnCost {
  int64_t bytes = 0, cycles = 0;
};
TurnCost CostOfTurn(const ConvolutionForm& form, const ConvolutionBlock& block,
                    const isa::MachineModel& machine);

// Blocks of code that turn window `number` into scratch from byte `scratch` on,
// with zeros beyond the borders. Returns where the products find it.
ConvolutionInput EmitTurn(const ConvolutionForm& form,
                          const ConvolutionBlock& block,
                          const ConvolutionGrid& grid,
                          const isa::Window& window, int number,
                          int64_t scratch, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_TURNED_INPUT_H_
