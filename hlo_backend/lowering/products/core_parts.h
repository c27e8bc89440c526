// Results of a product's kernel that lie in VMEM until it ends (what its rows
// or columns reduce to), where cores share the grid: each core makes a part of
// them and stores that alone.
//
// The cores share a dimension of the grid whose steps do not meet in the same
// results, and the border between two parts lies between tiles of the result.
// Where no dimension is such, one core makes all, or each makes a part of every
// result and sends it to the other one (`exchanged`).
//
//   scores f32[2,16,1024,1024], maxima of rows f32[2,16,1024] in tiles of
//   8 x 128: 2 x 2 x 10 steps of 8 heads and 104 rows: members are shared,
//   16 of them to a core.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CORE_PARTS_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CORE_PARTS_H_

#include <cstdint>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/physical_array.h"
#include "isa/kernel.h"

namespace ptxla::lowering {

struct GridDims;     // product_operands.h
struct ProductTile;  // product_tiling.h

// Which dimensions cores may share.
struct KeptResults {
  bool any = false;
  // A core's part has a multiple of so many members of the batch, rows or
  // columns of the product; 0: all steps of that dimension meet.
  int64_t members = 0, rows = 0, columns = 0;
  bool depth = true;  // cores may have sums of their own over parts of K
  // Each core makes a part of every result and sends it to the other one: any
  // dimension may be shared.
  bool exchanged = false;

  bool MayBeShared() const {
    return !any || exchanged || members > 0 || rows > 0 || columns > 0;
  }
  // A result that has a value for each member and row, or for each member and
  // column: the other is what cores cannot share.
  void Add(const PhysicalArray& result, bool of_rows);
};

// Of the dimensions of a tile's grid, the outermost that cores may share; K if
// that is the only one (so libtpu 0.0.42.1: products of one block of results).
struct CoreShare {
  // Along K two cores make sums of their own, which they add up in the end.
  enum class Axis { kNone, kBatch, kRows, kColumns, kDepth };
  Axis axis = Axis::kNone;
  int64_t bound = 1;  // its steps

  static CoreShare Of(const KeptResults& kept, const ProductTile& tile,
                      int cores);
};

// The window of a kept result: of a part where the grid says that cores share
// it, else of the whole.
isa::Window KeptWindow(const PhysicalArray& result, int arg,
                       const ProductTile& tile, const GridDims& grid);

// Where the whole result would begin, so that addresses in it need not know of
// parts; in the open block.
codegen::Sca KeptBase(const isa::Window& window, int number,
                      const GridDims& grid, codegen::CodeBuilder& b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_CORE_PARTS_H_
