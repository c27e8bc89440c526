#include "hlo_backend/lowering/fusion/row_place.h"

#include "base/units.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

using codegen::Sca;
using isa::Opcode;

Sca PlaceOfRow(codegen::CodeBuilder& b, const PhysicalArray& array, Sca to,
               Sca index, int64_t row_stride) {
  const Sca tile =
      b.SBinaryImm(Opcode::kSshrl, index, CeilLog2(array.tile_rows));
  const Sca in_tile = b.SBinaryImm(Opcode::kSand, index,
                                   static_cast<int32_t>(array.tile_rows - 1));
  const int shift = CeilLog2(array.packing);
  const Sca words =
      shift > 0 ? b.SBinaryImm(Opcode::kSshrl, in_tile, shift) : in_tile;
  const Sca base =
      b.SAdd(to, b.SMulImm(tile, static_cast<int32_t>(row_stride)));
  return b.SAdd(base, b.SMulImm(words, isa::kRowBytes));
}

}  // namespace ptxla::lowering
