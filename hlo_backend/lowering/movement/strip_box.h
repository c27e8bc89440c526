// A box of whole tiles of an array and its strips (strip_mover.h) in VMEM: the
// window, or the DMA of its own, that brings the one to the other.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_BOX_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_BOX_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/kernel_plan.h"
#include "hlo_backend/lowering/movement/strip_mover.h"
#include "hlo_backend/lowering/physical_array.h"

namespace ptxla::lowering {

struct StripAxis {
  int64_t count = 1;   // units in the box
  int64_t extent = 1;  // units in the array
  int64_t pitch = 0;   // bytes per unit in the array
  int64_t stride = 0;  // bytes per unit in VMEM
};

struct StripBox {
  std::vector<StripAxis> axes;  // planes, then tiles down, then tiles across
  int64_t tile_bytes = 0;
  int64_t strip_bytes = 0;
  int64_t bytes = 0;

  // `planes` without strides. A strip has room for `word_rows` word rows at
  // least.
  static StripBox Of(const PhysicalArray& array, std::vector<StripAxis> planes,
                     int64_t tiles_down, int64_t tiles_across,
                     int64_t word_rows);

  StripAxis& rows() { return axes[axes.size() - 2]; }
  StripAxis& columns() { return axes.back(); }
  // Windows that do not move yet: the dimension of axes[a] is dims[a].
  isa::Window AsWindow(int arg, isa::Direction direction) const;
  // Between the argument and addresses in VMEM. No more than the array has.
  isa::DmaDescriptor AsDescriptor(int arg, bool to_arg) const;
  Strips AsStrips(int space, codegen::Sca base) const;
};

// A descriptor that the code starts and waits for, at once or with others under
// way.
struct StripDma {
  int descriptor = 0, semaphore = 0;
  bool to_arg = false;
  int64_t bytes = 0;

  static StripDma Add(const StripBox& box, int arg, bool to_arg,
                      Tiling* tiling);
  // Blocks of code. `offset` in the argument, `address` in VMEM: globals.
  void Run(codegen::CodeBuilder& b, codegen::Sca offset,
           codegen::Sca address) const;
  // The same in an open block whose instructions stay in order.
  void Start(codegen::CodeBuilder& b, codegen::Sca offset,
             codegen::Sca address) const;
  void Wait(codegen::CodeBuilder& b) const;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_STRIP_BOX_H_
