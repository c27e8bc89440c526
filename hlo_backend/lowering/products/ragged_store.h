// What a grouped product does with a finished tile: a group's rows share their
// tile of the result with those of its neighbours.
//
//   RaggedStore store(result, low, high, first, RaggedStore::Into::kRows, &b);
//   store.Emit(0, row, col, tiles);
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_STORE_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_STORE_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/product_operands.h"
#include "hlo_backend/lowering/products/product_stream.h"

namespace ptxla::lowering {

// Adds tiles to the block of the result, or puts them in their rows.
class RaggedStore final : public Epilogue {
 public:
  enum class Into { kRows, kSums };

  // `first`: bit 0 is set in the first step of the block, which finds nothing
  // there. Into rows, only [low, high) of the tile are the step's; 16 of bf16
  // lie in one register.
  RaggedStore(const BlockPlace& out, codegen::Sca low, codegen::Sca high,
              codegen::Sca first, Into into, codegen::CodeBuilder* b);

  void Emit(int64_t batch, int64_t row, int64_t col,
            const std::vector<codegen::Vec>& tiles) override;
  int live_registers() const override { return packed_ ? 10 : 8; }

 private:
  // Of 16 rows of bf16 in one register, those of the step become `value`.
  void EmitPacked(int64_t batch, int64_t row, int64_t col, codegen::Vec value);
  codegen::Mask Within(codegen::Vec number, codegen::Vec low,
                       codegen::Vec high);

  const BlockPlace out_;
  const Into into_;
  const bool packed_;
  codegen::CodeBuilder& b_;
  codegen::Vec keep_, rows_, low_, high_, low_of_odd_, high_of_odd_;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_RAGGED_STORE_H_
