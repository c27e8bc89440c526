// A product as the MXU sees it, apart from HLO: for each of `batch` members,
// out[m, n] = sum over k of lhs[m, k] * rhs[k, n].
//
// Operands lie in VMEM as tiles of 8 rows x 128 lanes, the two minor dimensions
// of their layout. Lanes of the LHS must be K and rows of the weights K; an
// operand that lies the other way round is transposed: the weights for a slower
// push, the LHS through the XLU.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PROBLEM_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PROBLEM_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/ir/primitive_type.h"
#include "hlo_backend/lowering/products/core_parts.h"
#include "hlo_backend/lowering/products/product_numbers.h"
#include "hlo_backend/lowering/products/shared_members.h"
#include "isa/machine_model.h"

namespace ptxla::lowering {

// Tiles of 8 rows that go through the XLU in one block of code where a row's
// columns come in several steps (row_turns.cc): its latency is paid once each.
constexpr int64_t kRowTilesInTurn = 32;

struct ProductOperand {
  hlo::PrimitiveType type = hlo::PrimitiveType::kBf16;
  // LHS: lies as [K, M]. RHS: lies as [N, K].
  bool transposed = false;
  bool resident = false;  // already in VMEM: streams nothing
  // A register's rows are gathered out of tiles that hold a row of several
  // batch members each.
  bool gathered = false;
  // So many batch members in a row read the same plane (product_batch.h).
  int64_t shared_by = 1;
  // Computed on its way in (operand_prologue.h). Per element: bytes of HBM that
  // stream. Per register of 1,024: vector operations, those of them that the
  // EUP does, and loads.
  bool computed = false;
  int64_t bytes_per_element = 2;
  int64_t operations = 0, functions = 0, loads = 0;
  // VMEM of what is read whole; registers of scratch per 8 rows.
  int64_t whole_bytes = 0, row_entries = 0;
  int64_t row_unit = 16, column_unit = 128;
  // Vector operations that bring 8 rows to numbers of the arrays
  // (ConversionOperations).
  int conversion = 0;
  // The vector units do not keep up with the arrays: what has been converted is
  // kept, as bf16.
  bool slow = false;
};

struct ProductProblem {
  int64_t batch = 1, m = 1, n = 1, k = 1;
  // K lies in so many planes of both operands, `k` in each: they are walked one
  // after another.
  int64_t k_planes = 1;
  // Of the last batch dimension, if it lies in the rows of an operand's tiles:
  // a step takes whole tiles of 8 members, or all of them. 0: it does not.
  int64_t members = 0;
  // Members of a step that reads part of those: a multiple of this.
  int64_t member_unit = 8;
  ProductOperand lhs, rhs;
  ArrayNumbers numbers = ArrayNumbers::kBf16;
  std::vector<ProductPass> passes = {{}};
  bool integers = false;  // sums are s32
  // Of all outputs together that do not stay in VMEM.
  int64_t out_bytes_per_element = 4;
  // Of these outputs, those of fewer bits than f32.
  int narrow_results = 0;
  // Bytes per element of [m, n] that an epilogue reads from HBM.
  int64_t epilogue_bytes_per_element = 0;
  // Rows that a block must be a multiple of: 32 where 8-bit arrays take part.
  int64_t row_unit = 16;
  // And where several steps share them: 128 where values per row are read.
  int64_t row_unit_of_steps = 16;
  // A block may end within a register of 16 rows, between tiles of 8.
  bool half_registers = false;
  // Where no step of so many fits, fewer will do: a part of 128 rows whose size
  // is a power of two.
  bool parts_of_rows = false;
  // Columns likewise: 256 where the epilogue reads bf16 values per column.
  int64_t column_unit = 128;
  // K of a step of several, where an operand that is computed reads such values
  // along K.
  int64_t k_unit = 128;
  // Vector operations per result register (1,024 elements) of the epilogue, and
  // those of them that the EUP does, one a cycle.
  int64_t epilogue_ops = 0, epilogue_functions = 0;
  // Rows are finished as a whole (row_epilogue.h): a step holds all of N. Per
  // result register: f32 registers of scratch, and cycles of the vector units
  // after the products.
  bool whole_rows = false;
  // The same of columns (column_stages_epilogue.h): a step holds all of M.
  bool whole_columns = false;
  // Columns of the same rows follow one another, so that what the rows reduce
  // to is complete when the last of them are made.
  bool rows_in_turn = false;
  int64_t row_planes = 0;
  double row_cycles = 0;
  // Per 8 rows: f32 registers of scratch for what whole rows reduce to.
  int64_t row_results = 0;
  // Per 128 columns of a member: the same for whole columns.
  int64_t column_results = 0;
  // Limits on the batch members of a step.
  std::vector<SharedMembers> shared_members;
  // What an epilogue reads from HBM for several members at once, beside
  // epilogue_bytes_per_element.
  std::vector<SharedTiles> shared_tiles;
  // VMEM of what an epilogue reads or keeps whole, whatever the tile.
  int64_t epilogue_whole_bytes = 0;
  // What it keeps until the kernel ends.
  KeptResults kept;
};

// How the arrays of a core take a product of this shape.
struct ArrayShape {
  int size = 128;  // K and N of one array
  int mxus = 1;
  int rows = 16;       // LHS rows of one matmul instruction
  int interval = 16;   // cycles between matmuls of one MXU
  int push_rows = 16;  // weight rows of one push
  int push_interval = 4;
  int latency = 125;  // matmul to its first result
  bool bf16 = true;   // false: the MXU takes f32 rows only
  int unit = 16;      // rows of one packed register, or of two f32 registers
  bool packed() const { return bf16 || unit == 32; }
};
ArrayShape ArrayShapeOf(const isa::MachineModel& model, bool rhs_transposed,
                        ArrayNumbers numbers = ArrayNumbers::kBf16);
// Sums come out of the arrays as f32 and are kept as s32.
inline bool ConvertsSums(const ProductProblem& p) {
  return p.integers && p.numbers != ArrayNumbers::kS8;
}
// Of the types: numbers, and what conversions cost.
void ChooseNumbers(const isa::MachineModel& model, hlo::PrimitiveType result,
                   ProductProblem* problem);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_PROBLEM_H_
