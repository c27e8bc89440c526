#include "hlo_backend/lowering/movement/column_tiles.h"

#include "base/units.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using isa::Opcode;

bool ColumnTiles::LieAlike(const PhysicalArray& array) const {
  return table_.tile_bytes() == array.tile_bytes() &&
         table_.tiles_down == array.tiles_down && table_.dims[0] == 0 &&
         array.dims[0] == 0;
}

isa::Window ColumnTiles::WindowOf(const PhysicalArray& array, int arg,
                                  isa::Direction direction, int64_t tiles,
                                  bool moves) const {
  isa::Window w;
  w.arg = arg;
  w.direction = direction;
  isa::WindowDim across, down;
  across.block = tiles;
  across.extent = array.tiles_across;
  across.hbm_stride = array.tile_bytes();
  across.vmem_stride = bytes();
  across.grid_dim = moves ? 0 : -1;
  down.block = down.extent = array.tiles_down;
  down.hbm_stride = array.row_stride();
  down.vmem_stride = array.tile_bytes();
  w.dims = {across, down};
  w.inner_bytes = array.tile_bytes();
  w.slots = moves ? 2 : 1;
  w.slot_bytes =
      RoundUpTo<int64_t>(tiles * bytes(), isa::kVregBytes) + isa::kVregBytes;
  return w;
}

isa::DmaDescriptor ColumnTiles::Transfer(int arg, bool to_arg) const {
  isa::DmaDescriptor d;
  const int64_t there = table_.row_stride(), here = table_.tile_bytes();
  (to_arg ? d.dst_arg : d.src_arg) = arg;
  d.arg_shift = table_.place_shift();
  d.dims = {{table_.tiles_down, to_arg ? here : there, to_arg ? there : here}};
  d.inner_bytes = here;
  return d;
}

Sca ColumnTiles::TileOf(CodeBuilder& b, Sca column) {
  return b.SBinaryImm(Opcode::kSshrl, column, 7);
}

Sca ColumnTiles::Place(CodeBuilder& b, Sca tile) const {
  return b.SMulImm(
      tile, static_cast<int32_t>(table_.tile_bytes() >> table_.place_shift()));
}

Sca ColumnTiles::Slot(CodeBuilder& b, Sca from, Sca n) const {
  return b.SAdd(from, b.SMulImm(n, static_cast<int32_t>(bytes())));
}

void ColumnTiles::Start(CodeBuilder& b, int descriptor, Sca from, Sca to) {
  codegen::VInstr start;
  start.op = Opcode::kDmaStartDesc;
  start.imm = descriptor;
  start.a = from.id;
  start.b = to.id;
  b.Emit(start);
}

}  // namespace ptxla::lowering
