// Products of rows that do not fill their lanes and lie turned, [.., C, rows]:
// a pair tensor of 64 channels, features of a sequence. The rows are taken as
// they lie, a product for each plane of them that shares the matrix. A result
// that does not fill its lanes either lies so, too:
//
//   %t = bf16[384,384,64] transpose(bf16[384,64,384] %x), dimensions={0,2,1}
//   %d = bf16[384,384,64] dot(%t, bf16[64,64] %w)
//   %e = bf16[384,384,256] dot(%t, bf16[64,256] %v)
//   ==>
//   %s = bf16[384,64,64] broadcast(%w), dimensions={1,2}
//   %p = bf16[384,64,384] dot(%s, %x), batch {0}
//   %d = bf16[384,384,64] transpose(%p), dimensions={0,2,1}
//   %e = bf16[384,384,256] dot(%x, %v), lhs_contracting_dims={1}
//
// The TPU compiler has the rows of such products in the lanes, too.
#ifndef PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_ROWS_H_
#define PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_ROWS_H_

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

struct TurnedProduct {
  Instruction* product;
  // The transpose of `product` that the old one is, with all dimensions of its
  // rows.
  DimVector order;
};

// The transpose whose rows the product takes as an operand, joined perhaps by a
// reshape; null if it takes none.
Instruction* RowsOfProduct(const Instruction& dot, int operand = 0);

// `product` is null: it stays as it is. Rows that are padded no less when they
// lie turned do, and products that are turned by what reads them.
TurnedProduct MadeOfTurnedRows(Builder& b, Instruction* dot, int generation);

// A product of rows whose tiles are whole as they come and would not be behind
// their transpose, which keeps the minor dimension: as they come
// they are one matrix.
//
//   %t = bf16[32,77,512] transpose(bf16[77,32,512] %x), dimensions={1,0,2}
//   %d = bf16[32,77,64] dot(%t, bf16[512,64] %w)
//   ==>
//   %p = bf16[77,32,64] dot(%x, %w)         // 2,464 rows
//   %d = bf16[32,77,64] transpose(%p), dimensions={1,0,2}
TurnedProduct MadeOfWholeRows(Instruction* dot);

// A gradient of weights, which contracts all rows of both operands: in what
// order they lie does not matter where it is the same one. Null: it is another
// product.
//   dot(transpose(x), transpose(dy)), lhs_contracting_dims={0,1,2}, ...
//   ==> dot(x, dy)
Instruction* MadeOfContractedRows(Instruction* dot);

// The transpose of a product, of gathered planes (analysis/plane_gather.h) or
// of a loop's result, whose result fills its tiles less: what follows is done
// in front of it.
bool LeavesLanesEmpty(const Instruction& transpose, int generation);

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_LAYOUT_TURNED_ROWS_H_
