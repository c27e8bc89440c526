#include "hlo_backend/lowering/movement/staged_window.h"

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

StagedWindow StagedWindow::Add(const isa::Window& window, Tiling* tiling) {
  StagedWindow s;
  s.window_ = window;
  StripBox box;
  box.tile_bytes = window.inner_bytes;
  for (const isa::WindowDim& d : window.dims) {
    box.axes.push_back({d.block, d.extent, d.hbm_stride, d.vmem_stride});
  }
  s.dma_ = StripDma::Add(box, window.arg,
                         window.direction != isa::Direction::kIn, tiling);
  s.scratch_ = RoundUpTo<int64_t>(tiling->scratch_bytes, isa::kVregBytes);
  tiling->scratch_bytes =
      s.scratch_ + RoundUpTo<int64_t>(window.slot_bytes, isa::kVregBytes);
  return s;
}

void StagedWindow::Copy(CodeBuilder& b, Sca base) const {
  b.NewBlock("place");
  const Sca offset = b.GlobalSca();
  b.SImmTo(offset, 0);
  for (const isa::WindowDim& d : window_.dims) {
    if (d.block >= d.extent || d.grid_dim < 0) continue;
    const Sca g = b.NewSca();
    b.GridIndex(g, d.grid_dim);
    b.SBinaryTo(offset, Opcode::kSadd, offset,
                b.SMulImm(g, static_cast<int32_t>(d.block * d.hbm_stride)));
  }
  dma_.Run(b, offset, base);
}

}  // namespace ptxla::lowering
