// A window of an argument in VMEM, which the hardware never copies, for code
// that cannot walk the argument where it is: each step copies its block to
// scratch, or from there.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STAGED_WINDOW_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STAGED_WINDOW_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/strip_box.h"

namespace ptxla::lowering {

class StagedWindow {
 public:
  // `window` as it would be for an argument in HBM; the last block of a
  // dimension may be a part of one.
  static StagedWindow Add(const isa::Window& window, Tiling* tiling);

  // Where the block lies.
  void Address(codegen::CodeBuilder& b, codegen::Sca base) const {
    b.ScratchAddress(base, static_cast<int32_t>(scratch_));
  }
  // Blocks of code: to scratch (an input), or from there. `base`: its address.
  void Copy(codegen::CodeBuilder& b, codegen::Sca base) const;

 private:
  // From dimension `d` of `ragged_` on; bit d of `last`: its last block.
  void Run(codegen::CodeBuilder& b, codegen::Sca offset, codegen::Sca base,
           size_t d, uint32_t last) const;

  isa::Window window_;
  std::vector<int> ragged_;     // dimensions whose last block is a part
  std::vector<StripDma> dmas_;  // by the bits of `last`
  int64_t scratch_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STAGED_WINDOW_H_
