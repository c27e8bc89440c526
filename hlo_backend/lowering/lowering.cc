#include "hlo_backend/lowering/lowering.h"

#include "hlo_backend/analysis/tiled_layout.h"
#include "hlo_backend/lowering/schedule/lowerer.h"

namespace ptxla::lowering {

isa::TiledLayout TiledLayoutOf(const hlo::Shape& shape) {
  isa::TiledLayout l;
  l.dims.assign(shape.dims().begin(), shape.dims().end());
  if (shape.has_layout()) {
    const hlo::Layout& layout = shape.layout();
    l.minor_to_major.assign(layout.minor_to_major.begin(),
                            layout.minor_to_major.end());
    for (const hlo::Tile& t : layout.tiles) {
      l.tiles.emplace_back(t.dimensions.begin(), t.dimensions.end());
    }
  }
  l.bits = hlo::ElementBits(shape);
  return l;
}

absl::StatusOr<isa::Program> Lower(const hlo::Module& module,
                                   const Placement& placement,
                                   const chips::ChipSpec& chip,
                                   const LoweringOptions& options,
                                   LoweringStats* stats) {
  return Lowerer(module, placement, chip, options).Run(stats);
}

}  // namespace ptxla::lowering
