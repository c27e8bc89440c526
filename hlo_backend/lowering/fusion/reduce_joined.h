// Reductions whose reduced axes lie whole in one body of the nest.
//
// Each kept tile is one chain of operations in registers, as the TPU compiler
// writes it, and its result is finished and stored in the same block: the next
// rows' loads hide the latency of transposes and rotations. What a block cannot
// finish (partial results that go on in the next grid step, packed words shared
// with another block) goes to scratch, for FinishReduction.
#ifndef PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_JOINED_H_
#define PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_JOINED_H_

#include <cstdint>
#include <functional>
#include <map>
#include <vector>

#include "absl/status/status.h"
#include "hlo_backend/lowering/fusion/nest.h"
#include "hlo_backend/lowering/fusion/reduction.h"

namespace ptxla::lowering {

// Stores finished results of one reduction from within the nest.
class JoinedResult {
 public:
  // `bf16_terms`: what is reduced are numbers of bf16 as they are in memory,
  // and nobody reads the result again. `extremum`: whose positions `r` is, or
  // null.
  JoinedResult(const Reduction& r, const Reduction* extremum, const Geometry& g,
               const NestPlan& plan, bool bf16_terms, codegen::CodeBuilder& b);

  // Whether blocks of this plan can finish it.
  bool finishes() const { return finishes_; }
  // When the nest sets up addresses.
  void MakePointers(NestCode& n);
  // Kept tiles that make a row of the result: call Finish with as many, or
  // with the region's last.
  int together() const { return together_; }
  // Of tile k and tile k + 16 of a row, words with both: in place of the first
  // as soon as the second is there.
  bool pairs_words(int tile) const {
    return together_ > kTransposed && tile % together_ >= kTransposed;
  }
  codegen::Vec Paired(codegen::Vec first, codegen::Vec behind);
  // The partial registers of the kept tiles that begin at (row, column) of the
  // open region, those that have a pair as Paired() makes them. `extrema`: of
  // positions, the values there. `last`: of the region.
  absl::Status Finish(NestCode& n, int row, int column,
                      const std::vector<codegen::Vec>& partials,
                      const std::vector<codegen::Vec>& extrema, bool last);
  // Every kept tile's value on all its lanes and sublanes.
  absl::StatusOr<codegen::Vec> Expanded(codegen::Vec partial);

 private:
  // Row tiles that are transposed together: 128 rows.
  static constexpr int kTransposed = 16;

  bool CanFinish(const NestPlan& plan) const;
  void Place(const NestPlan& plan);
  absl::Status Store(NestCode& n, int64_t offset, codegen::Vec v, bool last);
  // Rows of 128 results, from 128 or 256 rows of partial results.
  absl::StatusOr<std::vector<codegen::Vec>> Transposed(
      const std::vector<codegen::Vec>& partials);
  absl::StatusOr<std::vector<codegen::Vec>> Positions(
      NestCode& n, const std::vector<codegen::Vec>& partials,
      const std::vector<codegen::Vec>& extrema);
  struct Row {
    codegen::Sca index, base;
  };
  Row RowOf(const NestCode& n, codegen::Sca to);

  const Reduction& r_;
  const Reduction* extremum_;
  const Geometry& g_;
  codegen::CodeBuilder& b_;
  bool rows_reduced_ = false, columns_reduced_ = false;
  bool finishes_ = false;
  int together_ = 1;
  std::vector<int> majors_;
  std::vector<int64_t> strides_;  // bytes of the result per base tile
  int index_axis_ = -1;           // the major along the rows of the result
  int at_ = -1, index_ = -1;      // pointers
  int waiting_ = -1;              // of positions: the pointer to their places
  int64_t number_ = 0;            // of the row of results
  std::function<codegen::Sca(codegen::Sca)> start_, index_start_;
  // Rows of packed words come in pairs: the first, until the second is there.
  codegen::Vec even_;
  int64_t even_offset_ = 0;
  // The same of rows that two indices of a major make: by place in the row.
  bool index_pairs_ = false;
  std::map<int64_t, codegen::Vec> even_rows_;
  // The row that was named last, in which block.
  Row row_;
  int64_t row_block_ = -1, row_offset_ = 0;
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_FUSION_REDUCE_JOINED_H_
