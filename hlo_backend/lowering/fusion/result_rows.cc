#include "hlo_backend/lowering/fusion/result_rows.h"

#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/row_place.h"

namespace ptxla::lowering {

using codegen::Mask;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

void ResultRows::Place(Vec v, Sca to, Sca row, int part, Sca index,
                       int64_t beyond) {
  Sca base = to;
  Sca element_row;  // decides the part of packed words
  int64_t offset = beyond;
  const int shift = CeilLog2(array_.packing);
  if (array_.rank() <= 1) {
    const Sca at = b_.SAddImm(row, part);
    element_row = at;
    const Sca word = shift ? b_.SBinaryImm(Opcode::kSshrl, at, shift) : at;
    base = b_.SAdd(to, b_.SMulImm(word, isa::kRowBytes));
  } else {
    element_row = index;
    base = PlaceOfRow(b_, array_, to, index, array_.row_stride());
    base = b_.SAdd(base,
                   b_.SMulImm(row, static_cast<int32_t>(array_.tile_bytes())));
    offset += part * array_.tile_bytes();
  }
  Store(v, base, offset, element_row, b_.Range(0, 128, 0, 1));
}

void ResultRows::PlaceElement(Vec v, Sca to, Sca index) {
  const Sca row = b_.SBinaryImm(Opcode::kSshrl, index, 7);
  const int shift = CeilLog2(array_.packing);
  const Sca word = shift ? b_.SBinaryImm(Opcode::kSshrl, row, shift) : row;
  const Sca base = b_.SAdd(to, b_.SMulImm(word, isa::kRowBytes));
  const Vec lane = b_.Splat(b_.SBinaryImm(Opcode::kSand, index, 127));
  const Mask mask = b_.Compare(Opcode::kVcmpEqS32, b_.LaneSequence(), lane);
  Store(v, base, 0, row, mask);
}

void ResultRows::Store(Vec v, Sca base, int64_t offset, Sca element_row,
                       Mask mask) {
  const int32_t at = static_cast<int32_t>(offset);
  if (array_.packing > 1) {
    Vec bits = v;
    if (hlo::IsFloat(array_.type)) {
      bits = b_.Binary(Opcode::kVpackIBf16, v, v);
    }
    const uint32_t low = (1u << array_.bits) - 1;
    const Vec shift = b_.Splat(b_.SMulImm(
        b_.SBinaryImm(Opcode::kSand, element_row, array_.packing - 1),
        array_.bits));
    bits = b_.Binary(Opcode::kVshll, b_.BinaryImm(Opcode::kVand, bits, low),
                     shift);
    const Vec hole =
        b_.Unary(Opcode::kVnot, b_.Binary(Opcode::kVshll, b_.Imm(low), shift));
    const Vec old = b_.Load(codegen::kReducedRowSpace, base, at);
    v = b_.Binary(Opcode::kVor, b_.Binary(Opcode::kVand, old, hole), bits);
  }
  b_.StoreMasked(codegen::kReducedRowSpace, base, at, v, mask);
}

}  // namespace ptxla::lowering
