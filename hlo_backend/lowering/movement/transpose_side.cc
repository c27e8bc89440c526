#include "hlo_backend/lowering/movement/transpose_side.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;

void TransposeSide::Address(CodeBuilder& b, Sca base) const {
  if (copy) {
    copy->Address(b, base);
  } else {
    b.WindowAddress(base, window);
  }
}

void TransposeSide::Load(CodeBuilder& b, Sca base) const {
  if (copy) copy->Copy(b, base);
}

void TransposeSide::Store(CodeBuilder& b) const {
  if (!copy) return;
  b.NewBlock("result");
  const Sca base = b.GlobalSca();
  copy->Address(b, base);
  copy->Copy(b, base);
}

bool NeedsStaging(const PhysicalArray& a, bool exact) {
  return a.tile_rows < 8 || (!exact && a.packing > 1 &&
                             (a.tiles_down % 2 != 0 ||
                              (a.tiles_across > 1 && a.tiles_across % 2 != 0)));
}

TransposeSide AddTransposeSide(int arg, const PhysicalArray& a,
                               const TransposeBlock& block, Tiling* tiling) {
  TransposeSide s;
  s.resident = tiling->args[arg].space == isa::Space::kVmem;
  // A block has room for tiles of 8 rows, however low they are.
  const int64_t full = int64_t{8} * isa::kLanes * a.bits / 8;
  const bool staged = s.resident && NeedsStaging(a, block.exact);
  if (staged) s.resident = false;
  s.tile_bytes = s.resident ? a.tile_bytes() : full;
  s.rows = a.tiles_down;
  s.columns = a.tiles_across;
  s.row_stride = s.resident ? a.row_stride() : block.column_tiles * full;
  s.plane_bytes = RoundUpTo<int64_t>(
      block.row_tiles * block.column_tiles * s.tile_bytes, isa::kVregBytes);
  isa::Window w;
  w.arg = arg;
  w.direction = arg == 0 ? isa::Direction::kIn : isa::Direction::kOut;
  int64_t plane = a.plane_stride();
  for (int d = a.rank() - 3; d >= 0; --d) {
    isa::WindowDim m;
    m.extent = a.sizes[d];
    m.hbm_stride = m.vmem_stride = plane;
    m.grid_dim = block.major_dim[d];
    if (d == block.plane_dim && block.planes > 1) {
      m.block = block.planes;
      if (block.planes_overlap) {
        m.advance = 1;
        for (int64_t at = 0; at < m.extent; at += m.block) {
          m.table.push_back(std::min(at, m.extent - m.block));
        }
      }
      if (s.resident) {
        s.plane_bytes = plane;
      } else {
        m.vmem_stride = s.plane_bytes;
      }
    }
    plane *= a.sizes[d];
    if (m.grid_dim >= 0) w.dims.insert(w.dims.begin(), m);
  }
  isa::WindowDim r;
  r.block = block.row_tiles;
  r.extent = a.tiles_down;
  r.hbm_stride = a.row_stride();
  r.vmem_stride = s.row_stride;
  r.grid_dim = block.row_dim;
  w.dims.push_back(r);
  isa::WindowDim c;
  c.block = block.column_tiles;
  c.extent = a.tiles_across;
  c.hbm_stride = a.tile_bytes();
  c.vmem_stride = s.tile_bytes;
  c.grid_dim = block.column_dim;
  w.dims.push_back(c);
  w.inner_bytes = a.tile_bytes();
  w.slot_bytes = block.planes * s.plane_bytes;
  // The last of an odd number of packed tiles is loaded with what follows.
  if (a.packing > 1) w.slot_bytes += isa::kVregBytes;
  if (staged) {
    s.copy = StagedWindow::Add(w, tiling);
    return s;
  }
  s.window = static_cast<int>(tiling->windows.size());
  tiling->windows.push_back(std::move(w));
  return s;
}

}  // namespace ptxla::lowering
