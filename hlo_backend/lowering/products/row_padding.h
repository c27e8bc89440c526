// The rows of a plane that lie in its last tile behind those that exist: a
// kernel that contracts the rows of planes meets them, and memory there may
// hold anything. They are zeros in registers.
//
//   RowPadding padding(/*rows=*/33, /*tiles=*/5, bf16, &b);  // of a plane
//   padding.Clear(&regs, /*tile=*/4, &b);  // registers of 16 rows from tile 4
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_PADDING_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_PADDING_H_

#include <array>
#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

class RowPadding {
 public:
  // Of planes of which each has `tiles` tiles of 8 rows in what follows, one
  // plane after another, and `rows` rows in all. `bf16`: registers hold 16 rows
  // as packed bf16, else 8 as words. Makes globals, in a block of their own, if
  // the last tile of a plane is not full.
  RowPadding(int64_t rows, int64_t tiles, bool bf16, codegen::CodeBuilder* b);

  bool exists() const { return exists_; }
  // Where grid dimension `dim` walks over parts of the planes' tiles, only its
  // last step has rows that do not exist. Call at the beginning of a body.
  void ForPartsOf(int dim, codegen::CodeBuilder* b);
  // `regs`: rows of which the first are those of tile number `tile`.
  void Clear(std::vector<codegen::Vec>* regs, int64_t tile,
             codegen::CodeBuilder* b) const;
  // After so many tiles the same ones are partly filled again.
  int64_t period() const { return tiles_; }

 private:
  void SetBits(codegen::CodeBuilder* b);

  const int64_t rest_, tiles_;  // rows of a plane's last tile
  const bool bf16_;
  const bool exists_;
  // Bits of the rows that exist: where the last tile of a plane is the first
  // one of a register, and where it is the second one.
  std::array<codegen::Vec, 2> bits_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_ROW_PADDING_H_
