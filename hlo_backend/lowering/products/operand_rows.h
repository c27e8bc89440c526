// Rows of a product's operand in registers, whatever its type: as the numbers
// that the arrays take.
//
//   OperandRows rows(&b, {lhs.type, rhs.type});
//   Vec packed = rows.Bf16(place, place.base, batch, row, lane, /*part=*/0);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_ROWS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_ROWS_H_

#include <array>
#include <cstdint>
#include <initializer_list>

#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/codegen/narrow_tiles.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

class OperandRows {
 public:
  // Makes what the types need as globals of the open scope, in a block of its
  // own; nothing for most of them.
  OperandRows(codegen::CodeBuilder* b,
              std::initializer_list<hlo::PrimitiveType> types);

  // `base` stands for the place's own, e.g. moved on by a loop. `row` is a
  // multiple of 16 (of 32 for Bytes), `lane` of 128.

  // 16 rows as two registers of f32; whole numbers and 8-bit floats exactly.
  std::array<codegen::Vec, 2> F32(const BlockPlace& place, codegen::Sca base,
                                  int64_t batch, int64_t row, int64_t lane);
  // 16 rows as one packed register: of f32, part `part` of its values
  // (product_numbers.h).
  codegen::Vec Bf16(const BlockPlace& place, codegen::Sca base, int64_t batch,
                    int64_t row, int64_t lane, int part = 0);
  // 32 rows of an 8-bit type as they are; 4-bit ones as s8.
  codegen::Vec Bytes(const BlockPlace& place, codegen::Sca base, int64_t batch,
                     int64_t row, int64_t lane);
  // What is left of f32 values when their first `part` - 1 parts are taken
  // away: an array that takes f32 rows makes the last step itself.
  codegen::Vec Rest(codegen::Vec x, int part);

 private:
  // Of members in rows: the word of each of 8 rows, `apart` from one another,
  // that holds the member.
  codegen::Vec MemberWords(const BlockPlace& place, codegen::Sca base,
                           int64_t batch, int64_t row, int64_t lane, int apart);
  std::array<codegen::Vec, 2> MemberRowsF32(const BlockPlace& place,
                                            codegen::Sca base, int64_t batch,
                                            int64_t row, int64_t lane);
  codegen::Vec MemberRowsBf16(const BlockPlace& place, codegen::Sca base,
                              int64_t batch, int64_t row, int64_t lane);
  // A whole register of an 8- or 4-bit type's rows, `row` among them: one tile,
  // or several smaller ones below each other.
  codegen::Vec Register(const BlockPlace& place, codegen::Sca base,
                        int64_t batch, int64_t row, int64_t lane);
  // 8 rows of an 8- or 4-bit type as 32-bit integers.
  codegen::Vec Integers(const BlockPlace& place, codegen::Sca base,
                        int64_t batch, int64_t row, int64_t lane);

  codegen::CodeBuilder& b_;
  codegen::NarrowTiles narrow_;
  codegen::Vec shifts4_;  // left, that put the sublane's nibble on top
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_OPERAND_ROWS_H_
