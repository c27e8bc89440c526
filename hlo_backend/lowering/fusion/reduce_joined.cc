#include "hlo_backend/lowering/fusion/reduce_joined.h"

#include <algorithm>
#include <utility>

#include "base/status.h"
#include "base/units.h"
#include "hlo_backend/lowering/codegen/spaces.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/result_rows.h"
#include "hlo_backend/lowering/fusion/row_place.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {

using codegen::CodeBuilder;
using codegen::Sca;
using codegen::Vec;
using isa::Opcode;

JoinedResult::JoinedResult(const Reduction& r, const Reduction* extremum,
                           const Geometry& g, const NestPlan& plan,
                           bool bf16_terms, CodeBuilder& b)
    : r_(r), extremum_(extremum), g_(g), b_(b) {
  columns_reduced_ = FoldsLanes(g);
  rows_reduced_ = FoldsSublanes(g);
  for (size_t a = 0; a < g.axes.size(); ++a) {
    if (g.axes[a].kind == Axis::Kind::kMajor && !g.axes[a].reduced) {
      majors_.push_back(static_cast<int>(a));
    }
  }
  if (columns_reduced_ && !rows_reduced_) {
    // Single tiles of bf16 go through the transpose unit two in a word.
    const bool single = g.axes[g.column_axis].tiles == 1 && !ReducesMajors(g);
    // The results of a transpose of each unit and a pair of tiles are alive.
    const int registers = b.model().Registers(isa::RegClass::kVector) /
                          std::max(1, b.model().xlus);
    const bool pairs = bf16_terms && single && registers >= kTransposed + 2;
    together_ = pairs ? 2 * kTransposed : kTransposed;
    if (together_ > kTransposed && !CanFinish(plan)) together_ = kTransposed;
  }
  finishes_ = CanFinish(plan);
  if (finishes_) Place(plan);
}

bool JoinedResult::CanFinish(const NestPlan& plan) const {
  const PhysicalArray& a = r_.result;
  const bool pairs = a.packing == 2 && a.rank() <= 1 && hlo::IsFloat(a.type);
  const bool merges = a.packing == 2 && a.rank() > 1 && hlo::IsFloat(a.type);
  if (rows_reduced_ && columns_reduced_) {
    return majors_.empty() && (a.packing == 1 || hlo::IsFloat(a.type));
  }
  if (!rows_reduced_ && !columns_reduced_) {
    return a.packing == 1 && a.tile_rows == 8 && g_.base_rows == 8 &&
           a.rank() > 1;
  }
  if (a.packing > 1 && !pairs && !merges) return false;
  const int axis = rows_reduced_ ? g_.column_axis : g_.row_axis;
  if (axis < 0) return false;
  // Bodies begin at whole rows of the result, and at whole words of them.
  const int64_t rows_together = pairs ? 2 * kTransposed : kTransposed;
  const int64_t per_body = together_ == 1
                               ? (pairs ? 2 : 1)
                               : std::max<int64_t>(together_, rows_together);
  const auto whole = [&](int64_t tiles) {
    return tiles >= g_.axes[axis].tiles || tiles % per_body == 0;
  };
  return whole(plan.block[axis]) && (plan.unroll[axis] >= plan.block[axis] ||
                                     plan.unroll[axis] % per_body == 0);
}

// Where the results go: bytes per kept base tile along each axis.
void JoinedResult::Place(const NestPlan& plan) {
  const PhysicalArray& a = r_.result;
  strides_.assign(g_.axes.size(), 0);
  const bool whole_tiles = !rows_reduced_ && !columns_reduced_;
  size_t planes = majors_.size();
  if (whole_tiles) {
    if (g_.row_axis >= 0) strides_[g_.row_axis] = a.row_stride();
    strides_[g_.column_axis] = a.tile_bytes();
  } else if (!(rows_reduced_ && columns_reduced_)) {
    const int axis = rows_reduced_ ? g_.column_axis : g_.row_axis;
    const int64_t per_row =
        a.rank() <= 1 ? isa::kRowBytes / a.packing : a.tile_bytes();
    strides_[axis] = per_row / (together_ > 1 ? kTransposed : 1);
    if (!majors_.empty() && a.rank() >= 2 && a.sizes[a.rank() - 2] > 1) {
      index_axis_ = majors_[--planes];
      const int64_t all = g_.axes[index_axis_].tiles;
      const int64_t block = plan.block[index_axis_];
      const int64_t body = plan.unroll[index_axis_];
      index_pairs_ = a.packing == 2 && all % 2 == 0 &&
                     (block % 2 == 0 || block >= all) &&
                     (body % 2 == 0 || body >= block) && body > 1;
    }
  }
  int64_t stride = a.plane_stride();
  for (size_t k = planes; k-- > 0;) {
    strides_[majors_[k]] = stride;
    stride *= g_.axes[majors_[k]].tiles;
  }
  if (!r_.moving.empty()) strides_ = r_.moving;
  start_ = [this, &plan](Sca to) {
    const auto next = [&] { return to.valid() ? to : b_.NewSca(); };
    Sca at = next();
    ResultAddress(r_, at, b_);
    for (size_t x = 0; x < g_.axes.size() && r_.moving.empty(); ++x) {
      if (plan.grid_dim[x] < 0 || strides_[x] == 0) continue;
      if (r_.moves_along == static_cast<int>(x)) continue;
      const Sca step = b_.NewSca();
      b_.GridIndex(step, plan.grid_dim[x]);
      const Sca moved = next();
      b_.SBinaryTo(
          moved, Opcode::kSadd, at,
          b_.SMulImm(step, static_cast<int32_t>(strides_[x] * plan.block[x])));
      at = moved;
    }
    return at;
  };
  index_start_ = [this, &plan](Sca to) {
    const Sca reg = to.valid() ? to : b_.NewSca();
    if (plan.grid_dim[index_axis_] < 0) {
      b_.SImmTo(reg, 0);
      return reg;
    }
    const Sca step = b_.NewSca();
    b_.GridIndex(step, plan.grid_dim[index_axis_]);
    b_.SMove(reg,
             b_.SMulImm(step, static_cast<int32_t>(plan.block[index_axis_])));
    return reg;
  };
}

void JoinedResult::MakePointers(NestCode& n) {
  even_ = Vec();
  if (!finishes_) return;
  at_ = n.AddPointer(strides_, start_);
  if (r_.waiting >= 0) {
    waiting_ =
        n.AddPointer(std::vector<int64_t>(g_.axes.size(), 0), [this](Sca to) {
          const Sca reg = to.valid() ? to : b_.NewSca();
          b_.ScratchAddress(reg, static_cast<int32_t>(r_.waiting));
          return reg;
        });
  }
  if (index_axis_ >= 0) {
    std::vector<int64_t> one(g_.axes.size(), 0);
    one[index_axis_] = 1;
    index_ = n.AddPointer(one, index_start_);
  }
}

absl::StatusOr<Vec> JoinedResult::Expanded(Vec v) {
  TileFold fold(r_, b_);
  if (rows_reduced_) {
    ASSIGN_OR_RETURN(v, fold.Sublanes(v));
  }
  if (columns_reduced_) {
    ASSIGN_OR_RETURN(v, fold.Lanes(v));
  }
  return fold.WithInit(v);
}

Vec JoinedResult::Paired(Vec first, Vec behind) {
  return b_.Binary(Opcode::kVpackIBf16, first, behind);
}

absl::StatusOr<std::vector<Vec>> JoinedResult::Transposed(
    const std::vector<Vec>& partials) {
  TileFold fold(r_, b_);
  std::vector<std::vector<Vec>> rows;
  if (partials.size() <= kTransposed) {
    rows.push_back(b_.Transpose(partials, kTransposed));
  } else {
    // Rows 0 to 127 in the lower halves of words, those behind in the upper.
    std::vector<Vec> words;
    for (size_t k = 0; k < kTransposed; ++k) {
      words.push_back(k + kTransposed < partials.size()
                          ? partials[k]
                          : Paired(partials[k], partials[k]));
    }
    rows.resize(2);
    // Folded as they come, or 32 halves would be alive.
    const std::vector<Vec> columns = b_.Transpose(words, kTransposed);
    for (size_t k = 0; k < columns.size(); ++k) {
      rows[0].push_back(b_.BinaryImm(Opcode::kVshll, columns[k], 16));
      rows[1].push_back(b_.BinaryImm(Opcode::kVand, columns[k], 0xFFFF0000u));
      for (size_t done = k + 1; done % 2 == 0; done /= 2) {
        for (std::vector<Vec>& row : rows) {
          const Vec v = row.back();
          row.pop_back();
          ASSIGN_OR_RETURN(row.back(), fold.Combine(row.back(), v));
        }
      }
    }
  }
  std::vector<Vec> results;
  for (std::vector<Vec>& row : rows) {
    ASSIGN_OR_RETURN(Vec v, fold.Tree(std::move(row)));
    ASSIGN_OR_RETURN(v, fold.Sublanes(v));
    ASSIGN_OR_RETURN(v, fold.WithInit(v));
    results.push_back(v);
  }
  return results;
}

absl::StatusOr<std::vector<Vec>> JoinedResult::Positions(
    NestCode& n, const std::vector<Vec>& partials,
    const std::vector<Vec>& extrema) {
  PositionFold fold(*extremum_, r_, b_);
  absl::StatusOr<PositionFold::Pair> best;
  if (together_ > 1) {
    best = fold.Rows([&] { return extrema; }, [&] { return partials; },
                     n.ValueOf(waiting_), number_++);
  } else {
    best =
        fold.Tile({extrema[0], partials[0]}, rows_reduced_, columns_reduced_);
  }
  RETURN_IF_ERROR(best.status());
  ASSIGN_OR_RETURN(const Vec v, fold.WithInit(*best));
  return std::vector<Vec>{v};
}

absl::Status JoinedResult::Finish(NestCode& n, int row, int column,
                                  const std::vector<Vec>& partials,
                                  const std::vector<Vec>& extrema, bool last) {
  TileFold fold(r_, b_);
  std::vector<Vec> results;
  if (extremum_ != nullptr) {
    ASSIGN_OR_RETURN(results, Positions(n, partials, extrema));
  } else if (together_ > 1) {
    ASSIGN_OR_RETURN(results, Transposed(partials));
  } else {
    Vec v = partials[0];
    if (rows_reduced_) {
      ASSIGN_OR_RETURN(v, fold.Sublanes(v));
    }
    if (columns_reduced_) {
      ASSIGN_OR_RETURN(v, fold.Lanes(v));
    }
    ASSIGN_OR_RETURN(v, fold.WithInit(v));
    results.push_back(v);
  }
  for (size_t k = 0; k < results.size(); ++k) {
    const int from = row + static_cast<int>(k) * kTransposed;
    const int64_t offset =
        n.pointer(at_).offset +
        (g_.row_axis >= 0 ? from * strides_[g_.row_axis] : 0) +
        column * strides_[g_.column_axis];
    RETURN_IF_ERROR(
        Store(n, offset, results[k], last && k + 1 == results.size()));
  }
  return absl::OkStatus();
}

// The row of the result that the open index of a major stands for.
JoinedResult::Row JoinedResult::RowOf(const NestCode& n, Sca to) {
  const int64_t offset = n.pointer(index_).offset;
  if (row_block_ == b_.block_number() && row_offset_ == offset) return row_;
  const PhysicalArray& a = r_.result;
  row_block_ = b_.block_number();
  row_offset_ = offset;
  row_.index = b_.SAddImm(n.pointer(index_).reg, static_cast<int32_t>(offset));
  row_.base = PlaceOfRow(b_, a, to, row_.index, a.row_stride());
  return row_;
}

absl::Status JoinedResult::Store(NestCode& n, int64_t offset, Vec v,
                                 bool last) {
  const PhysicalArray& a = r_.result;
  const Sca to = n.ValueOf(at_);
  const int space = codegen::kReducedRowSpace;
  if (!rows_reduced_ && !columns_reduced_) {
    b_.Store(space, to, static_cast<int32_t>(offset), v);
    return absl::OkStatus();
  }
  const bool one = rows_reduced_ && columns_reduced_;
  const auto mask = b_.Range(0, one ? 1 : 128, 0, 1);
  if (a.packing == 2 && a.rank() <= 1 && hlo::IsFloat(a.type)) {
    // Two rows of 128 share their words.
    if (!even_.valid()) {
      even_ = v;
      even_offset_ = offset;
      if (!last) return absl::OkStatus();
    }
    b_.StoreMasked(space, to, static_cast<int32_t>(even_offset_),
                   b_.Binary(Opcode::kVpackIBf16, even_, v), mask);
    even_ = Vec();
    return absl::OkStatus();
  }
  if (index_axis_ < 0) {
    if (a.packing > 1) {
      ResultRows(a, b_).Store(v, to, offset, b_.SImm(0), mask);
    } else {
      b_.StoreMasked(space, to, static_cast<int32_t>(offset), v, mask);
    }
    return absl::OkStatus();
  }
  if (index_pairs_ && n.pointer(index_).offset % 2 == 0) {
    even_rows_[offset] = v;
    return absl::OkStatus();
  }
  const Row row = RowOf(n, to);
  if (index_pairs_) {
    b_.StoreMasked(space, row.base, static_cast<int32_t>(offset),
                   b_.Binary(Opcode::kVpackIBf16, even_rows_[offset], v), mask);
    return absl::OkStatus();
  }
  ResultRows(a, b_).Store(v, row.base, offset, row.index, mask);
  return absl::OkStatus();
}

}  // namespace ptxla::lowering
