// An operand of a product whose registers are computed, not loaded
// (operand_prologue.h), as the stream sees it.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COMPUTED_OPERAND_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COMPUTED_OPERAND_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"

namespace ptxla::lowering {

class ComputedOperand {
 public:
  virtual ~ComputedOperand() = default;
  // Rows `row` ... + 15 at the 128 lanes from `lane`: two registers of 8 rows,
  // as f32. The code goes into the builder's open block.
  virtual std::vector<codegen::Vec> Tiles(int64_t batch, int64_t row,
                                          int64_t lane) = 0;
  // Key of the memory that keeps values per row of these 16 rows, their own;
  // -1: there are none.
  virtual int64_t RowsKey(int64_t batch, int64_t row) const = 0;
  // Makes those values, before they are used for the first time since Forget();
  // false: they are there. Code as of Tiles().
  virtual bool MakeRows(int64_t batch, int64_t row) = 0;
  // Inside of a loop's block: rows count from row `index` * `rows` on, until
  // EndRows().
  virtual void BeginRows(codegen::Sca index, int64_t rows) = 0;
  virtual void EndRows() = 0;
  // Registers of earlier code are gone.
  virtual void Forget() = 0;
  // Vector registers that one call's code holds at its widest, about.
  virtual int live_registers() const = 0;
  // Cycles that MakeRows() takes.
  virtual int64_t rows_lead() const = 0;
  // Cycles from its first load to the result, with other work beside it.
  virtual int64_t lead() const = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_COMPUTED_OPERAND_H_
