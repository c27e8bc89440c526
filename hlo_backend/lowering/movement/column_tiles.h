// The tiles of single columns (hlo_backend/analysis/table_columns.h): those of
// 128 neighbours, one below the other in VMEM, whole columns apart.
//
//   const ColumnTiles columns(table);
//   t.windows.push_back(columns.WindowOf(out, 2, isa::Direction::kOut, 8,
//   true)); t.descriptors.push_back(columns.Transfer(0, false));
//   columns.Start(b, 0, columns.Place(b, column), slot);
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_TILES_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_TILES_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

class ColumnTiles {
 public:
  explicit ColumnTiles(const PhysicalArray& table) : table_(table) {}

  // Of the tiles of a column.
  int64_t bytes() const { return table_.tiles_down * table_.tile_bytes(); }
  // `array` has its columns so, too.
  bool LieAlike(const PhysicalArray& array) const;

  // A window of 128 times `tiles` columns of an array of such columns, with
  // room for the register that reaches beyond the last one.
  isa::Window WindowOf(const PhysicalArray& array, int arg,
                       isa::Direction direction, int64_t tiles,
                       bool moves) const;
  // Between the argument and VMEM.
  isa::DmaDescriptor Transfer(int arg, bool to_arg) const;

  // Which tile across has the column.
  static codegen::Sca TileOf(codegen::CodeBuilder& b, codegen::Sca column);
  // Where its tiles begin in the argument, for Transfer(); and at `from` in
  // VMEM those of the n-th column that came.
  codegen::Sca Place(codegen::CodeBuilder& b, codegen::Sca tile) const;
  codegen::Sca Slot(codegen::CodeBuilder& b, codegen::Sca from,
                    codegen::Sca n) const;
  static void Start(codegen::CodeBuilder& b, int descriptor, codegen::Sca from,
                    codegen::Sca to);

 private:
  const PhysicalArray& table_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_COLUMN_TILES_H_
