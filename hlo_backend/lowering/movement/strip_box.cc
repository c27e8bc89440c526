#include "hlo_backend/lowering/movement/strip_box.h"

#include <algorithm>
#include <utility>

#include "base/units.h"

namespace ptxla::lowering {

StripBox StripBox::Of(const PhysicalArray& array, std::vector<StripAxis> planes,
                      int64_t tiles_down, int64_t tiles_across,
                      int64_t word_rows) {
  StripBox box;
  box.axes = std::move(planes);
  box.tile_bytes = array.tile_bytes();
  box.strip_bytes = RoundUpTo<int64_t>(
      std::max(tiles_down * array.tile_bytes(), word_rows * isa::kRowBytes),
      isa::kVregBytes);
  box.axes.push_back(
      {tiles_down, array.tiles_down, array.row_stride(), array.tile_bytes()});
  box.axes.push_back(
      {tiles_across, array.tiles_across, array.tile_bytes(), box.strip_bytes});
  box.bytes = tiles_across * box.strip_bytes;
  for (size_t a = box.axes.size() - 2; a-- > 0;) {
    box.axes[a].stride = box.bytes;
    box.bytes *= box.axes[a].count;
  }
  return box;
}

isa::Window StripBox::AsWindow(int arg, isa::Direction direction) const {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  w.inner_bytes = tile_bytes;
  w.slots = 1;
  w.slot_bytes = bytes;
  for (const StripAxis& a : axes) {
    isa::WindowDim d;
    d.block = a.count;
    d.extent = a.extent;
    d.hbm_stride = a.pitch;
    d.vmem_stride = a.stride;
    w.dims.push_back(d);
  }
  return w;
}

isa::DmaDescriptor StripBox::AsDescriptor(int arg, bool to_arg) const {
  isa::DmaDescriptor d;
  (to_arg ? d.dst_arg : d.src_arg) = arg;
  d.inner_bytes = tile_bytes;
  for (const StripAxis& a : axes) {
    const int64_t count = std::min(a.count, a.extent);
    if (count == 1) continue;
    if (to_arg) {
      d.dims.push_back({count, a.stride, a.pitch});
    } else {
      d.dims.push_back({count, a.pitch, a.stride});
    }
  }
  return d;
}

Strips StripBox::AsStrips(int space, codegen::Sca base) const {
  Strips s;
  s.space = space;
  s.base = base;
  for (size_t a = 0; a + 2 < axes.size(); ++a) {
    s.plane_strides.push_back(axes[a].stride);
  }
  s.column_stride = strip_bytes;
  return s;
}

StripDma StripDma::Add(const StripBox& box, int arg, bool to_arg,
                       Tiling* tiling) {
  StripDma dma;
  isa::DmaDescriptor d = box.AsDescriptor(arg, to_arg);
  d.semaphore = tiling->num_semaphores++;
  dma.descriptor = static_cast<int>(tiling->descriptors.size());
  dma.semaphore = d.semaphore;
  dma.to_arg = to_arg;
  dma.bytes = d.Bytes();
  tiling->descriptors.push_back(std::move(d));
  return dma;
}

void StripDma::Run(codegen::CodeBuilder& b, codegen::Sca offset,
                   codegen::Sca address) const {
  b.NewBlock("transfer", codegen::BlockMode::kInOrder);
  Start(b, offset, address);
  Wait(b);
}

void StripDma::Start(codegen::CodeBuilder& b, codegen::Sca offset,
                     codegen::Sca address) const {
  codegen::VInstr start;
  start.op = isa::Opcode::kDmaStartDesc;
  start.imm = descriptor;
  start.a = to_arg ? address.id : offset.id;
  start.b = to_arg ? offset.id : address.id;
  b.Emit(start);
}

void StripDma::Wait(codegen::CodeBuilder& b) const {
  codegen::VInstr wait;
  wait.op = isa::Opcode::kDmaDoneWait;
  wait.imm = semaphore;
  wait.imm2 = static_cast<int32_t>(bytes);
  b.Emit(wait);
}

}  // namespace ptxla::lowering
