// The code of one grid step of a product: weight pushes, matmuls, pops, sums
// over K and the epilogue, as one straight stream that keeps the MXUs busy and
// drains once, at its end.
//
// Visits (product_visits.h) follow one another without a gap: the weights of
// the next visit are pushed while this one streams its rows, and results of
// this one are popped while the next one runs. Partial sums over K live in VMEM
// as f32, in result order.
#ifndef PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_STREAM_H_
#define PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_STREAM_H_

#include <cstdint>
#include <vector>

#include "hlo_backend/lowering/codegen/builder.h"
#include "hlo_backend/lowering/products/computed_operand.h"
#include "hlo_backend/lowering/products/product_problem.h"
#include "hlo_backend/lowering/products/product_tiling.h"
#include "hlo_backend/lowering/products/product_visits.h"

namespace ptxla::lowering {

// An operand's block in VMEM: tiles of 8 rows x 128 lanes, or of 32 rows for
// 8-bit types, where 16 rows are half a tile.
struct BlockPlace {
  // Not in memory: computed. Of the others only `type` counts.
  ComputedOperand* computed = nullptr;
  codegen::Sca base;
  int space = 0;            // of codegen: what may alias
  int64_t batch_pitch = 0;  // bytes between batch members
  int64_t row_pitch = 0;    // bytes between tiles one below the other
  int64_t lane_pitch = 0;   // bytes between tiles side by side
  hlo::PrimitiveType type = hlo::PrimitiveType::kBf16;
  int64_t tile_rows = 8;
  int64_t row_bytes = 128;  // of a row inside of a tile of narrow rows
  // A tile holds one row of 8 members; so many members of the last batch
  // dimension are in the block, member_pitch bytes between each 8, and
  // row_pitch is that of single rows. 0: it holds 8 rows of one.
  int64_t members = 0, member_pitch = 0;
  // So many members of the step in a row read the same one here.
  int64_t shared_by = 1;

  // Its rows lie as they came, and making numbers of them takes long.
  bool slow = false;
  // Vector operations lie between memory and the MXU, and what they make is
  // worth keeping.
  bool Converts() const { return computed != nullptr || slow; }

  int64_t MembersPerWord() const { return 32 / hlo::BitWidth(type); }

  // Of members in rows: which of those.
  int64_t Member(int64_t batch) const { return batch / shared_by % members; }

  // `row` is a multiple of 8. Of members in rows, that of the sublane.
  int64_t Offset(int64_t batch, int64_t row, int64_t lane) const {
    const int64_t plane = batch / shared_by;
    if (members > 0) {
      const int64_t member = Member(batch);
      return plane / members * batch_pitch + member / 8 * member_pitch +
             member % 8 / MembersPerWord() * isa::kRowBytes + row * row_pitch +
             lane / 128 * lane_pitch;
    }
    return plane * batch_pitch + row / tile_rows * row_pitch +
           lane / 128 * lane_pitch + row % tile_rows * row_bytes;
  }
};

// Takes finished sums: f32 tiles of 8 rows x 128 columns. Its code goes into
// the builder's open block; the stream schedules it.
class Epilogue {
 public:
  virtual ~Epilogue() = default;
  // `tiles` are the rows `row`, `row` + 8 ... of the columns `col` ... + 127,
  // counted inside the step's block.
  virtual void Emit(int64_t batch, int64_t row, int64_t col,
                    const std::vector<codegen::Vec>& tiles) = 0;
  // Vector registers that one call's code holds at its widest, about.
  virtual int live_registers() const { return 3; }
  // Codegen space whose registers calls load and store again, in the order of
  // the calls; -1: none.
  virtual int ordered_space() const { return -1; }
};

// How much of the epilogue may be under way at once: registers are given out
// after placement, and where they do not suffice, a thriftier pace does.
struct EpiloguePace {
  // Share of the vector registers that epilogues may hold together; the rest is
  // for operands under way to the MXUs. A policy of this compiler: a smaller
  // share is slower, never wrong.
  double share = 0.6;
  // Each epilogue's code issues in the order in which it was written.
  bool in_order = false;
  // Registers of rows whose slow conversions may be under way at once, for each
  // vector slot but one.
  size_t conversions = 2;
  // Epilogues that take longer than their products may wait for those of the
  // next columns (product_visits.h): few registers do not suffice for both.
  bool may_put_off = true;
  // Registers of rows whose short conversion, or split of f32 values, may be
  // under way at once.
  size_t short_conversions = 8;
  // Values per row that operands need are made before the stream, not in it.
  bool rows_ahead = false;
};

// Where a product's operands come from if they are no two blocks of memory: the
// windows of a convolution. K is cut into tiles of 128, of which the last rows
// may be missing.
class StreamOperands {
 public:
  virtual ~StreamOperands() = default;
  // Rows of weights that the K tile at `k` has, at most 128.
  virtual int64_t RowsOfK(int64_t k) const = 0;
  // Is anything of the LHS rows `row` ... + 15 in the K tile at `k`? Where
  // there is not, nothing is multiplied. The same in all steps that add up the
  // same sums.
  virtual bool Meets(int64_t batch, int64_t row, int64_t k) const = 0;
  // What OperandLoader::Load gives, in the builder's open block: 16 LHS rows in
  // the K tile at `k`, and 16 rows of its weights (of N if they lie
  // transposed).
  virtual std::vector<codegen::Vec> Lhs(int64_t batch, int64_t row,
                                        int64_t k) = 0;
  virtual std::vector<codegen::Vec> Weights(int64_t batch, int64_t row,
                                            int64_t col, int64_t k) = 0;
};

struct StreamParts {
  EpiloguePace pace;
  StreamOperands* operands = nullptr;  // instead of lhs and rhs
  BlockPlace lhs, rhs;  // other types than bf16 are converted in the stream
  // Rows of the LHS that are converted slowly or computed, and that a step
  // streams more than once, are kept here, as the MXU takes them.
  BlockPlace converted_lhs;
  // An LHS that lies as [K, M]: the stream transposes it into `lhs`, scratch of
  // bf16 or f32 (stream_transposes.h).
  bool turns_lhs = false;
  BlockPlace turned;
  BlockPlace sums;         // f32; used if !starts or !finishes or several k
  int64_t k_extent = 128;  // K of this step
  bool starts = true;      // first step along K: sums begin at zero
  bool finishes = true;    // last step along K: results go to the epilogue
};

// Appends the block to `b`.
void EmitStream(const ProductProblem& problem, const ProductTile& tile,
                const ArrayShape& arrays, const StreamParts& parts,
                Epilogue* epilogue, codegen::CodeBuilder* b);

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_PRODUCTS_PRODUCT_STREAM_H_
