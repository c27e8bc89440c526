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
  for (size_t k = 0; k < window.dims.size(); ++k) {
    const isa::WindowDim& d = window.dims[k];
    box.axes.push_back({d.block, d.extent, d.hbm_stride, d.vmem_stride});
    if (d.grid_dim >= 0 && d.extent > d.block && d.extent % d.block != 0) {
      s.ragged_.push_back(static_cast<int>(k));
    }
  }
  for (uint32_t last = 0; last < 1u << s.ragged_.size(); ++last) {
    StripBox part = box;
    for (size_t k = 0; k < s.ragged_.size(); ++k) {
      StripAxis& axis = part.axes[s.ragged_[k]];
      if (last >> k & 1) axis.count = axis.extent % axis.count;
    }
    s.dmas_.push_back(StripDma::Add(
        part, window.arg, window.direction != isa::Direction::kIn, tiling));
  }
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
  Run(b, offset, base, 0, 0);
}

void StagedWindow::Run(CodeBuilder& b, Sca offset, Sca base, size_t d,
                       uint32_t last) const {
  if (d == ragged_.size()) {
    dmas_[last].Run(b, offset, base);
    return;
  }
  const int grid_dim = window_.dims[ragged_[d]].grid_dim;
  b.BeginWhen(grid_dim, isa::When::Kind::kNotLast);
  Run(b, offset, base, d + 1, last);
  b.EndWhen();
  b.BeginWhen(grid_dim, isa::When::Kind::kLast);
  Run(b, offset, base, d + 1, last | 1u << d);
  b.EndWhen();
}

}  // namespace ptxla::lowering
