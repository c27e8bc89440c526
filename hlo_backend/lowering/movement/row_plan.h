// What a movement does to the rows of its result: for each register of the
// result, which word rows of the operands it is made of, shifted by how many
// lanes.
//
// A *piece* is one stretch of lanes of some sublanes of one part, all with the
// same operand, shift and part in the source. Regular movements need one or two
// pieces a register.
#ifndef PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_PLAN_H_
#define PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_PLAN_H_

#include <array>
#include <cstdint>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/status/statusor.h"
#include "absl/types/span.h"
#include "hlo_backend/lowering/movement/column_cut.h"
#include "hlo_backend/lowering/movement/index_map.h"
#include "hlo_backend/lowering/movement/word_rows.h"

namespace ptxla::lowering {

struct RowPiece {
  int operand = 0;                 // -1: the fill
  int part = 0;                    // of the result's words
  int from_part = 0;               // of the source's words
  int lane_lo = 0, lane_hi = 128;  // in the result
  int shift = 0;                   // result lane - source lane
  uint8_t sublanes = 0;            // bit s: sublane s
  std::array<int64_t, 8> rows{};   // source word row of each sublane

  bool SameSource(const RowPiece& o) const {
    return operand == o.operand && lane_lo == o.lane_lo &&
           lane_hi == o.lane_hi && shift == o.shift && sublanes == o.sublanes &&
           rows == o.rows;
  }
};

class RowPlan {
 public:
  // `cut`: of some columns; null: of all.
  static absl::StatusOr<RowPlan> Of(const hlo::Instruction& instruction,
                                    const ColumnCut* cut = nullptr);

  const WordRows& result() const { return result_; }
  // Word rows of the result's tiles side by side: a row of tiles.
  int64_t TileRow() const { return result_.TileRow(); }
  // IndexMap::RowsApart of the rows of tiles; 0 for linear arrays.
  int64_t RowsApart() const;
  const std::vector<WordRows>& operands() const { return operands_; }
  // Pieces of the register of word rows [first, first + 8) of the result; rows
  // at or beyond `end` are left out. By part, then lanes.
  std::vector<RowPiece> PiecesAt(int64_t first, int64_t end);
  // All parts of the words come from the same parts of the same rows.
  bool AreWholeWords(const std::vector<RowPiece>& pieces) const;

  // The movement in blocks of `block` word rows of the result, the last of
  // which may be cut off: for each operand the word rows that a block takes, by
  // which it moves on if it moves along; or false if the blocks do not look
  // alike.
  struct Blocks {
    int64_t result_rows = 0;
    std::vector<int64_t> operand_rows;
    std::vector<int64_t> advance;  // 0: it does not move
    // Where the last block begins that is not cut off but ends with the result:
    // there and in the operands. -1, or empty: it is cut off.
    int64_t last_row = -1;
    std::vector<int64_t> last_operand_row;
  };
  bool Split(int64_t block, Blocks* blocks);
  // Moves the last block back to where it ends with the result, some of whose
  // rows it makes a second time; or false if it does not look alike there.
  bool MoveLastBack(Blocks* blocks);

 private:
  RowPlan(IndexMap map, WordRows result, std::vector<WordRows> operands)
      : map_(std::move(map)),
        result_(std::move(result)),
        operands_(std::move(operands)) {}

  struct Run {
    int lane_lo, lane_hi;
    int operand;
    WordPlace from;  // of lane_lo
    // But for the source's row.
    bool SameLanes(const Run& o) const {
      return operand == o.operand && lane_lo == o.lane_lo &&
             lane_hi == o.lane_hi && from.lane == o.from.lane &&
             from.part == o.from.part;
    }
  };
  std::vector<Run> RunsOf(int64_t row, int part) const;
  // The same, kept: every block size asks for the same rows.
  absl::Span<const Run> KeptRuns(int64_t row, int part);
  // One row of a block against that row of the first.
  bool SameInStep(int64_t row, int64_t step, std::vector<bool>* known,
                  Blocks* blocks);
  // Blocks of so many begin in the same place of a plane, and of what a pad
  // puts apart, wherever that matters.
  bool IsAligned(int64_t block) const;
  // Sets all but the operands' rows.
  bool AreAlike(int64_t block, Blocks* blocks);
  // Word rows of operand `o` that the first block takes.
  int64_t RowsTaken(int o, int64_t block);
  Run At(int64_t row, int part, int lane) const;
  // Padding is at `lane`: how many lanes from it on surely are, too.
  int64_t PaddingFrom(int64_t row, int part, int lane) const;

  IndexMap map_;
  WordRows result_;
  std::vector<WordRows> operands_;
  absl::flat_hash_map<int64_t, std::vector<Run>> kept_;  // by row and part
};

}  // namespace ptxla::lowering

#endif  // PTXLA_HLO_BACKEND_LOWERING_MOVEMENT_ROW_PLAN_H_
