#include "hlo_backend/lowering/movement/row_plan.h"

#include <algorithm>

#include "base/check.h"
#include "base/status.h"
#include "base/units.h"

namespace ptxla::lowering {

using hlo::DimVector;

absl::StatusOr<RowPlan> RowPlan::Of(const hlo::Instruction& instruction,
                                    const ColumnCut* cut) {
  ASSIGN_OR_RETURN(IndexMap map, IndexMap::Of(instruction));
  ASSIGN_OR_RETURN(PhysicalArray result,
                   PhysicalArray::Of(instruction.shape()));
  if (cut != nullptr) result = cut->Narrow(result);
  std::vector<WordRows> operands;
  for (const hlo::Instruction* operand : instruction.operands()) {
    ASSIGN_OR_RETURN(PhysicalArray array, PhysicalArray::Of(operand->shape()));
    operands.emplace_back(cut != nullptr ? cut->Narrow(array) : array);
  }
  return RowPlan(std::move(map), WordRows(result), std::move(operands));
}

RowPlan::Run RowPlan::At(int64_t row, int part, int lane) const {
  DimVector index;
  CHECK(result_.ElementAt({row, part, lane}, &index));
  const Source source = map_.At(index);
  Run run{lane, lane + 1, source.operand, {}};
  if (source.operand >= 0) {
    run.from = operands_[source.operand].PlaceOf(source.index);
  }
  return run;
}

int64_t RowPlan::PaddingFrom(int64_t row, int part, int lane) const {
  DimVector index;
  CHECK(result_.ElementAt({row, part, lane}, &index));
  const PhysicalArray& a = result_.array();
  return a.linear != 0 ? 1 : map_.PaddingFrom(index, a.dims[a.rank() - 1]);
}

std::vector<RowPlan::Run> RowPlan::RunsOf(int64_t row, int part) const {
  std::vector<Run> runs;
  const int lanes = result_.ValidLanes(row, part);
  for (int lane = 0; lane < lanes;) {
    Run run = At(row, part, lane);
    // Elements that follow one another in the source stay together up to the
    // end of a dimension: the last lane of the longest such stretch.
    const auto together = [&](int last) {
      const Run end = At(row, part, last);
      if (end.operand != run.operand) return false;
      return run.operand < 0 ||
             (end.from.row == run.from.row && end.from.part == run.from.part &&
              end.from.lane - run.from.lane == last - lane);
    };
    int good = lane, bad = lanes;
    if (run.operand < 0) {
      // Padding may stand on both sides of elements.
      const auto skip = [&] {
        const int64_t more = PaddingFrom(row, part, good) - 1;
        good += static_cast<int>(std::min<int64_t>(more, lanes - 1 - good));
      };
      skip();
      while (good + 1 < lanes && together(good + 1)) {
        ++good;
        skip();
      }
    } else if (together(lanes - 1)) {
      good = lanes - 1;
    } else {
      while (bad - good > 1) {
        const int middle = (good + bad) / 2;
        (together(middle) ? good : bad) = middle;
      }
    }
    run.lane_hi = good + 1;
    runs.push_back(run);
    lane = run.lane_hi;
  }
  return runs;
}

std::vector<RowPiece> RowPlan::PiecesAt(int64_t first, int64_t end) {
  std::vector<RowPiece> pieces;
  for (int part = 0; part < result_.parts(); ++part) {
    const size_t begin = pieces.size();
    for (int s = 0; s < 8 && first + s < end; ++s) {
      for (const Run& run : KeptRuns(first + s, part)) {
        RowPiece piece;
        piece.operand = run.operand;
        piece.part = part;
        piece.from_part = run.from.part;
        piece.lane_lo = run.lane_lo;
        piece.lane_hi = run.lane_hi;
        piece.shift = run.operand < 0 ? 0 : run.lane_lo - run.from.lane;
        const auto same = std::find_if(
            pieces.begin() + begin, pieces.end(), [&](const RowPiece& p) {
              return p.operand == piece.operand &&
                     p.from_part == piece.from_part &&
                     p.lane_lo == piece.lane_lo && p.lane_hi == piece.lane_hi &&
                     p.shift == piece.shift;
            });
        RowPiece& p = same != pieces.end() ? *same : pieces.emplace_back(piece);
        p.sublanes |= 1u << s;
        p.rows[s] = run.from.row;
      }
    }
  }
  return pieces;
}

bool RowPlan::AreWholeWords(const std::vector<RowPiece>& pieces) const {
  const int parts = result_.parts();
  if (parts == 1) return true;
  if (pieces.empty() || pieces.size() % parts != 0) return false;
  const size_t each = pieces.size() / parts;
  for (size_t k = 0; k < pieces.size(); ++k) {
    const RowPiece& p = pieces[k];
    if (p.operand < 0 || p.part != static_cast<int>(k / each) ||
        p.from_part != p.part || !p.SameSource(pieces[k % each])) {
      return false;
    }
  }
  return true;
}

absl::Span<const RowPlan::Run> RowPlan::KeptRuns(int64_t row, int part) {
  const auto [it, is_new] = kept_.try_emplace(row * result_.parts() + part);
  if (is_new) it->second = RunsOf(row, part);
  return it->second;
}

bool RowPlan::SameInStep(int64_t row, int64_t step, std::vector<bool>* known,
                         Blocks* blocks) {
  const int64_t there = step * blocks->result_rows + row;
  if (there >= result_.count()) return true;  // the last block is cut off
  for (int part = 0; part < result_.parts(); ++part) {
    const absl::Span<const Run> b = KeptRuns(there, part);
    if (b.empty()) continue;  // between elements: anything
    const absl::Span<const Run> a = KeptRuns(row, part);
    if (a.size() != b.size()) return false;
    for (size_t r = 0; r < a.size(); ++r) {
      if (!a[r].SameLanes(b[r])) return false;
      const int o = a[r].operand;
      if (o < 0) continue;
      const int64_t moved = b[r].from.row - a[r].from.row;
      if (moved < 0 || moved % step != 0) return false;
      if (!(*known)[o]) blocks->advance[o] = moved / step;
      (*known)[o] = true;
      if (moved != step * blocks->advance[o]) return false;
    }
  }
  return true;
}

bool RowPlan::MoveLastBack(Blocks* blocks) {
  const int64_t block = blocks->result_rows, start = result_.count() - block;
  if (start <= 0) return false;
  std::vector<int64_t> moved(operands_.size(), -1);
  for (int64_t row = 0; row < block; ++row) {
    for (int part = 0; part < result_.parts(); ++part) {
      const absl::Span<const Run> b = KeptRuns(start + row, part);
      if (b.empty()) continue;  // between elements: anything
      const absl::Span<const Run> a = KeptRuns(row, part);
      if (a.size() != b.size()) return false;
      for (size_t r = 0; r < a.size(); ++r) {
        if (!a[r].SameLanes(b[r])) return false;
        if (a[r].operand < 0) continue;
        int64_t& by = moved[a[r].operand];
        if (by < 0) by = b[r].from.row - a[r].from.row;
        if (by < 0 || by != b[r].from.row - a[r].from.row) return false;
      }
    }
  }
  for (size_t o = 0; o < moved.size(); ++o) {
    // What no row came from, or lies still, is there whole.
    const bool still = blocks->advance[o] == 0;
    if (still ? moved[o] > 0 : moved[o] < 0) return false;
    moved[o] = std::max<int64_t>(moved[o], 0);
  }
  blocks->last_row = start;
  blocks->last_operand_row = std::move(moved);
  return true;
}

int64_t RowPlan::RowsTaken(int o, int64_t block) {
  int64_t rows = 0;
  for (int64_t row = 0; row < block; ++row) {
    for (int part = 0; part < result_.parts(); ++part) {
      for (const Run& run : KeptRuns(row, part)) {
        if (run.operand == o) rows = std::max(rows, run.from.row + 1);
      }
    }
  }
  return rows;
}

int64_t RowPlan::RowsApart() const {
  const PhysicalArray& a = result_.array();
  return a.linear != 0 || a.rank() < 2 ? 0
                                       : map_.RowsApart(a.dims[a.rank() - 2]);
}

bool RowPlan::IsAligned(int64_t block) const {
  const PhysicalArray& a = result_.array();
  if (a.linear != 0) return true;
  const int64_t plane = a.tiles_down * TileRow();
  if (block % plane == 0) return true;
  const bool divides = a.planes == 1 || plane % block == 0;
  // Rows between planes are none of any block but the last ones.
  if (a.rows % a.tile_rows != 0 && !divides) return false;
  const int64_t apart = RowsApart();
  return apart == 0 || (divides && block % (apart * TileRow()) == 0);
}

bool RowPlan::AreAlike(int64_t block, Blocks* blocks) {
  const int64_t count = result_.count(), steps = CeilOfRatio(count, block);
  blocks->result_rows = block;
  blocks->operand_rows.clear();
  for (const WordRows& o : operands_) blocks->operand_rows.push_back(o.count());
  blocks->advance.assign(operands_.size(), 0);
  blocks->last_row = -1;
  if (steps == 1) return true;
  if (!IsAligned(block)) return false;
  std::vector<bool> known(operands_.size(), false);
  // Of padded arrays all rows: samples may all be padding. Of others as many as
  // cost little (BERT-Large 0.05 s more of 2.7, with 16,384 rows 0.2); beyond
  // them a wrong answer needs an order of dimensions that changes where none of
  // the samples lies.
  constexpr int64_t kMostRows = 65536, kAllRows = 4096;
  const bool even = RowsApart() > 0, pads = map_.Pads() && !even;
  // A block that ends within a row of tiles has that row's last column, which
  // nothing follows, elsewhere than the first block.
  const bool ends_within =
      result_.array().linear == 0 && block % TileRow() != 0;
  if ((pads || ends_within) && count > kMostRows) return false;
  // Every block against the first, at a few rows: the first, the last and one
  // that wanders from block to block; at many of the second and the last block.
  // In an exchange of outer dimensions those two may lie where they came from
  // and all others not.
  for (int64_t step = 1; step < steps; ++step) {
    const bool closely = step == 1 || step == steps - 1;
    const int64_t samples = std::min<int64_t>(block, closely ? 24 : 3);
    for (int64_t k = 0; k < samples; ++k) {
      int64_t row = samples == 1 ? 0 : k * (block - 1) / (samples - 1);
      if (!closely && k == 1) row = (row + step * 7919) % block;
      if (!SameInStep(row, step, &known, blocks)) return false;
    }
  }
  // So of arrays that no sample came from, other than an even padding's value.
  const bool unseen =
      !even && std::find(known.begin(), known.end(), false) != known.end();
  if (!pads && !ends_within && !unseen && count > kAllRows) return true;
  if (count > kMostRows) return false;
  for (int64_t step = 1; step < steps; ++step) {
    for (int64_t row = 0; row < block; ++row) {
      if (!SameInStep(row, step, &known, blocks)) return false;
    }
  }
  return true;
}

bool RowPlan::Split(int64_t block, Blocks* blocks) {
  if (!AreAlike(block, blocks)) return false;
  for (size_t o = 0; o < operands_.size(); ++o) {
    const int64_t advance = blocks->advance[o];
    if (advance == 0) continue;
    // Blocks may share rows, but none reads twice what it moves on by.
    blocks->operand_rows[o] =
        std::max(advance, RowsTaken(static_cast<int>(o), block));
    if (blocks->operand_rows[o] >= 2 * advance) return false;
  }
  return true;
}

}  // namespace ptxla::lowering
