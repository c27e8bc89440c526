// What gathers and scatters share: their index vectors as numbers of rows of a
// table whose rows are windows.
//
// The operand's dimensions are *row* dimensions, along which windows begin at
// an index or are shorter than the operand, and *window* dimensions, which a
// window has whole. Rows are numbered row-major over the row dimensions; a
// window that is longer than 1 along one of them is several rows.
#ifndef PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ROW_INDICES_H_
#define PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ROW_INDICES_H_

#include <cstdint>

#include "hlo_backend/ir/builder.h"

namespace ptxla::hlo {

// A gather's or scatter's dimension numbers in common terms.
struct IndexedWindows {
  const Shape* operand = nullptr;
  Instruction* indices = nullptr;
  int64_t index_vector_dim = 0;
  DimVector index_map;         // operand dimension of each index
  DimVector batching;          // operand dimensions ...
  DimVector indices_batching;  // ... and those of the indices
  DimVector removed;           // operand dimensions that windows lack
  DimVector sizes;             // of a window, by operand dimension
};

class RowIndices {
 public:
  RowIndices(Builder& b, const IndexedWindows& w);

  int64_t rows() const { return rows_; }  // of the table
  int64_t row_size() const { return row_size_; }
  int64_t count() const { return count_; }           // rows that are named
  const DimVector& batch() const { return batch_; }  // of the indices
  // Operand dimensions, row dimensions first.
  const DimVector& order() const { return order_; }
  // The operand as [rows, row_size], or [rows] if rows are single elements.
  Instruction* Table(Instruction* operand);
  // Back to the operand's shape.
  Instruction* FromTable(Instruction* table);
  // Sizes of named rows: those of the indices, then of the windows without
  // removed dimensions, in order().
  DimVector named() const;
  // Positions in named() of the operand's dimensions that windows have.
  DimVector positions() const;

  // Row numbers, s32[count]. Starts are clamped (gather) ...
  Instruction* Clamped();
  // The same of rows that are single elements as what an element gather takes:
  // the table with `rank` dimensions, the planes in one, and s32[rank, count].
  int table_rank() const;
  Instruction* ElementTable(Instruction* operand);
  Instruction* ClampedElements();
  // ... or all rows of a window that is not inside are -1 (scatter).
  Instruction* OrNone();
  // One window: its start in each dimension, s32[], clamped; and whether it is
  // inside.
  std::vector<Instruction*> Starts();
  Instruction* Inside();  // pred[], for one window

 private:
  bool IsRow(int64_t d) const { return w_.sizes[d] != w_.operand->dim(d); }
  bool Removed(int64_t d) const;
  // Index `k` of all windows, s32 or u32 [batch count].
  Instruction* Column(int64_t k);
  Instruction* ClampedColumn(int64_t k);
  // Over the row dimensions `begin` to `end` of order().
  Instruction* RowsFrom(Instruction* windows_inside, int begin, int end);
  // From a window's first row to each of its rows, s32[rows of a window].
  Instruction* OffsetsOf(const DimVector& places,
                         const std::vector<int64_t>& steps);
  Instruction* AllInside();
  int64_t SizeOf(int begin, int end) const;  // of those row dimensions

  Builder& b_;
  IndexedWindows w_;
  DimVector batch_, order_;
  int64_t windows_ = 1, rows_ = 1, row_size_ = 1, count_ = 1;
  int row_dims_ = 0;
};

}  // namespace ptxla::hlo

#endif  // PTXLA_HLO_BACKEND_PASSES_EXPANDERS_ROW_INDICES_H_
