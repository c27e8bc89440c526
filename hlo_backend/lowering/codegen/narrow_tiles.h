// Tiles of 4-bit types, and of 8- and 16-bit types on chips that cannot expand
// a packed register (v2, v3: no vunpack.c; v4: none of bytes): one tile of 8
// rows x 128 columns at a time, with what they have.
//
//   16 bits  4 rows of memory, each word two rows of the tile. Loaded so that
//            each row of memory comes on two sublanes (vld.even.odd.slanes1),
//            then a shift by sublane puts the sublane's half on top: 1 load,
//            2 VALU instructions. Stored by packing each sublane with the next
//            one and storing the even ones: 2 VALU, 1 store. Both are the
//            published counts (tpu_slots.md section 4).
//   8 bits   2 rows of memory, each word four rows of the tile: 2 loads, 3
//            VALU; back 7 VALU, 1 store.
//   4 bits   1 row of memory, each word all eight rows: 1 load, 2 VALU; back 10
//            VALU, 1 store. No chip expands registers of these.
//
//   NarrowTiles narrow(&b, NarrowTiles::kLoad16);
//   Vec x = narrow.Load(NarrowType::kBf16, space, base, offset);   // f32 rows
#ifndef PTXLA_HLO_BACKEND_LOWERING_CODEGEN_NARROW_TILES_H_
#define PTXLA_HLO_BACKEND_LOWERING_CODEGEN_NARROW_TILES_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::codegen {

// kTopByte: a byte in the top bits of its word, zeros below (f8e5m2 as f16 in
// the upper half).
enum class NarrowType : uint8_t {
  kBf16,
  kS16,
  kU16,
  kS8,
  kU8,
  kTopByte,
  kS4,
  kU4
};

class NarrowTiles {
 public:
  // Bits of `uses`.
  static constexpr int kLoad16 = 1, kStore16 = 2, kLoad8 = 4, kStore8 = 8,
                       kLoad4 = 16, kStore4 = 32;
  static int LoadOf(int bits) {
    return bits == 16 ? kLoad16 : bits == 8 ? kLoad8 : kLoad4;
  }
  static int StoreOf(int bits) {
    return bits == 16  ? kStore16
           : bits == 8 ? kStore8
           : bits == 4 ? kStore4
                       : 0;
  }

  // True if packed registers of such numbers must not be used on this chip.
  static bool Needed(const isa::MachineModel& model, int bits = 16) {
    return bits == 4 ||
           !isa::Supports(model, bits == 8 ? isa::Opcode::kVunpackC0S8
                                           : isa::Opcode::kVunpackCLBf16);
  }

  // Makes what `uses` needs, as globals of the open scope, in a block of its
  // own. Nothing at all where the chip does not need it.
  NarrowTiles(CodeBuilder* b, int uses);

  // The tile at base + offset (512-byte rows) as 32-bit words: bf16 as f32,
  // integers extended by their sign or zero.
  Vec Load(NarrowType type, int space, Sca base, int32_t offset);
  // Writes the tile: bf16 rounded to nearest even, integers their low bits.
  // `rows`: only the first so many rows of memory (a whole tile: 4, 2 or 1).
  // Bytes and halves of them are the low ones of words.
  void Store(NarrowType type, int space, Sca base, int32_t offset, Vec words,
             int rows = 4);

 private:
  CodeBuilder& b_;
  Vec shifts16_, shifts8_, shifts4_;  // left: the sublane's part comes on top
  Mask even_;                         // sublanes 0, 2, 4, 6
  Mask fourth_;                       // sublanes 0, 4
  Mask upper_;                        // sublanes 0 to 3
};

}  // namespace ptxla::codegen

#endif  // PTXLA_HLO_BACKEND_LOWERING_CODEGEN_NARROW_TILES_H_
