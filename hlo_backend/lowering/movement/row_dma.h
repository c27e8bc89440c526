// One row of a tiled array of 32-bit elements, between an argument and VMEM: a
// DMA that the code starts at an offset of its own and waits for.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_DMA_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_DMA_H_

#include <cstdint>

#include "hlo_backend/lowering/kernel_plan.h"

namespace ptxla::lowering {

class RowDma {
 public:
  // A row is `pieces` runs of 512 bytes, `pitch` apart in the argument and one
  // after another in VMEM. Adds a descriptor and a semaphore. Offsets are in
  // units of 2^shift bytes.
  static RowDma FromArg(int arg, int64_t pieces, int64_t pitch, Tiling* tiling,
                        int shift = 0);
  static RowDma ToArg(int arg, int64_t pieces, int64_t pitch, Tiling* tiling,
                      int shift = 0);

  // An instruction of the open block.
  void Start(codegen::CodeBuilder& b, codegen::Sca offset,
             codegen::Sca vmem) const;
  // A block: until `rows` that were started have arrived.
  void Wait(codegen::CodeBuilder& b, int64_t rows) const;
  // Blocks of code: start, wait. `offset`: into the argument; `vmem`: an
  // address. Both are globals.
  void Run(codegen::CodeBuilder& b, codegen::Sca offset,
           codegen::Sca vmem) const;

 private:
  int descriptor_ = 0, semaphore_ = 0;
  bool to_arg_ = false;
  int64_t bytes_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_DMA_H_
