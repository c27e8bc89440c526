// What a window's slot holds where the window is beyond its array's borders: no
// DMA writes there.
#ifndef PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_FILL_BORDERS_H_
#define PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_FILL_BORDERS_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

// One of the outer dimensions of a window: it has `planes` planes of an array
// of `extent`, in step i of `steps` those from origin + i * advance on.
struct BorderAxis {
  int64_t extent = 1, origin = 0, advance = 1, planes = 1, steps = 1;
  int grid_dim = -1;
};

struct BorderFill {
  std::vector<BorderAxis> axes;
  int space = 0;       // of the codegen
  uint32_t value = 0;  // of each word
};

bool HasBorders(const BorderAxis& axis);

// Writes the value into the planes beyond the borders, in the steps that have
// them.
void FillBorders(const BorderFill& fill, const isa::Window& window,
                 int window_number, codegen::CodeBuilder* b);
// The same from an address on, of planes with the sizes and pitches of
// `planes`.
void FillBorders(const BorderFill& fill, const isa::Window& planes,
                 codegen::Sca base, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_CONVOLUTIONS_FILL_BORDERS_H_
