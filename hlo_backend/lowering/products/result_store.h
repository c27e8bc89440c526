// Stores finished tiles of a product into its result's block of the step.
//
// A result in HBM is written through a slot, and the DMA cuts off what lies
// beyond the array. A result in VMEM is walked in place, so the stores
// themselves must stay inside of it: those of tiles that the last step of a
// dimension lacks are guarded by a predicate.
//
//   ResultStore store = ResultStore::Of(view, window, number, grid, space, &b);
//   store.Packed(&b, batch, row, col, packed);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RESULT_STORE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RESULT_STORE_H_

#include <array>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_operands.h"

namespace ptxla::lowering {

class ResultStore {
 public:
  ResultStore() = default;
  // Defines the block's address and the step's predicates in the open block.
  // `grid`: bounds. `number`: of the window in the kernel.
  static ResultStore Of(const MatrixView& view, const isa::Window& window,
                        int number, const std::vector<int64_t>& grid, int space,
                        codegen::CodeBuilder* b);

  const BlockPlace& place() const { return place_; }
  // What a store of this tile must be guarded by; invalid: nothing.
  codegen::Pred GuardOf(int64_t batch, int64_t row, int64_t col) const {
    return guards_[Lacking(batch, row, col)];
  }

  // 16 rows may be more than a block of an odd number of tiles has; what is
  // behind it in memory belongs to others. Words() and the like know.
  bool IsBeyondBlock(int64_t row) const {
    return resident_ && row / place_.tile_rows >= block_[1];
  }

  // Rows of memory that NarrowTiles::Store() may write: a lower tile ends where
  // the next plane begins.
  int narrow_rows() const { return narrow_rows_; }

  // Batch member, row and column are counted inside the block.
  // 32-bit words: a register for each 8 rows.
  void Words(codegen::CodeBuilder* b, int64_t batch, int64_t row, int64_t col,
             const std::vector<codegen::Vec>& tiles) const;
  // 16 rows of a 16-bit type in one register.
  void Packed(codegen::CodeBuilder* b, int64_t batch, int64_t row, int64_t col,
              codegen::Vec words) const;
  // 16 rows of an 8-bit type in the first four sublanes.
  void Bytes(codegen::CodeBuilder* b, int64_t batch, int64_t row, int64_t col,
             codegen::Vec words) const;

 private:
  // Bit d: the last step in dimension d does not have the tile.
  int Lacking(int64_t batch, int64_t row, int64_t col) const;
  // Sublanes [lo, hi) of `words`; with `stride` the upper four lie so far
  // behind the lower ones.
  void Emit(codegen::CodeBuilder* b, int32_t offset, codegen::Vec words, int lo,
            int hi, int64_t stride, int lacking) const;

  BlockPlace place_;
  bool resident_ = false;
  int narrow_rows_ = 4;
  int tile_sublanes_ = 8;  // that one tile has in memory
  // Planes, rows and columns of tiles: in a block, in the array, blocks.
  std::array<int64_t, 3> block_{}, extent_{}, steps_{};
  std::array<codegen::Pred, 8> guards_;  // by Lacking()
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RESULT_STORE_H_
