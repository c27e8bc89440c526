#include "hlo_backend/lowering/fusion/reduce_code.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/column_sums.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/partial_tiles.h"
#include "hlo_backend/lowering/fusion/position_fold.h"
#include "hlo_backend/lowering/fusion/reduce_joined.h"
#include "hlo_backend/lowering/fusion/reduce_terms.h"
#include "hlo_backend/lowering/fusion/tile_fold.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;

class ReduceCode {
 public:
  ReduceCode(const Expression& e, const Geometry& g, const ReduceTiling& t,
             CodeBuilder& b)
      : e_(e),
        g_(g),
        t_(t),
        b_(b),
        partials_(e, g, t, b),
        columns_(e, g, t, b),
        terms_(e, g, b) {}

  absl::Status Step() {
    if (!t_.reduced_grid.empty()) partials_.Fill();
    columns_.Fill();
    joined_.reserve(t_.reductions.size());
    for (stage_ = 0; stage_ < e_.stages; ++stage_) {
      RETURN_IF_ERROR(OneStage());
    }
    return columns_.Finish();
  }

 private:
  absl::Status OneStage() {
    NestCode nest(e_, g_, t_.cut.plan, t_.cut.places, b_, stage_);
    NestCode::Hooks hooks;
    hooks.start = [this](NestCode& n) { MakePointers(n); };
    hooks.enter = [this](NestCode& n, const Region& r) { return Enter(n, r); };
    hooks.body = [this](NestCode& n, const Region& r) { return Body(n, r); };
    hooks.leave = [this](NestCode& n, const Region& r) { return Leave(n, r); };
    hooks.finish = [this](NestCode& n) { return Finish(n); };
    return nest.Run(hooks);
  }

  // Reductions of the stage that is being written.
  bool Now(const Reduction& r) const { return e_.stage[r.root] == stage_; }

  void MakePointers(NestCode& n) {
    columns_.AddPointers(n);
    joined_.clear();
    for (const Reduction& r : t_.reductions) {
      const bool bf16 =
          terms_.AreOfBf16(r) && !e_.read_back[r.root] && !HasPositions(r);
      joined_.emplace_back(r, t_.ExtremumOf(r), g_, t_.cut.plan, bf16, b_);
      if (Joins(r)) joined_.back().MakePointers(n);
      partials_.AddPointer(n, t_.NumberOf(r));
    }
  }

  bool IsPositionOf(const Reduction& position, const Reduction& r) const {
    return t_.ExtremumOf(position) == &r;
  }
  bool HasPositions(const Reduction& r) const {
    return std::any_of(t_.reductions.begin(), t_.reductions.end(),
                       [&](const Reduction& p) { return IsPositionOf(p, r); });
  }

  // Whether blocks that hold all of a kept tile finish it themselves.
  bool Joins(const Reduction& r) const {
    return Now(r) && r.dense && !t_.thrifty && t_.reduced_grid.empty() &&
           joined_[t_.NumberOf(r)].finishes();
  }

  absl::Status Enter(NestCode& n, const Region& region) {
    kept_rows_ = KeepsRows(g_) ? region.rows : 1;
    kept_columns_ = KeepsColumns(g_) ? region.columns : 1;
    finished_ = n.joined();
    if (!n.joined()) {
      b_.BeginScope();
      b_.NewBlock("accumulators");
    }
    accumulators_.clear();
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          accumulators_.push_back(Start(n, r, row, c));
        }
      }
    }
    return absl::OkStatus();
  }

  // What a chain begins with; nothing, where its first value will do.
  Vec Start(NestCode& n, const Reduction& r, int row, int column) {
    const int k = t_.NumberOf(r);
    if (n.joined()) {
      return t_.reduced_grid.empty() ? Vec()
                                     : partials_.Load(n, k, row, column);
    }
    const Vec acc = b_.GlobalVec();
    if (t_.reduced_grid.empty()) {
      partials_.Start(r, acc);
    } else {
      b_.Redirect(partials_.Load(n, k, row, column), acc);
    }
    return acc;
  }

  // Tile by tile, all reductions of it at once: few values are alive.
  absl::Status Body(NestCode& n, const Region& region) {
    const int unit =
        g_.row_axis >= 0 ? static_cast<int>(g_.axes[g_.row_axis].unit) : 1;
    const bool pairs = FinishesInBody() && OnlyPairs();
    for (int y = 0; y < region.rows; ++y) {
      if (!pairs) {
        RETURN_IF_ERROR(AddTiles(n, region, y));
      } else if (y % 32 == 0) {
        for (int k = 0; k < 32; ++k) {
          const int row = y + k / 2 + k % 2 * 16;
          if (row < region.rows) RETURN_IF_ERROR(AddTiles(n, region, row));
        }
      }
      const int end = y + 1;
      if (end % unit != 0 && end < region.rows) continue;
      RETURN_IF_ERROR(n.StoreRows(region, y / unit * unit, end));
      RETURN_IF_ERROR(columns_.AddRows(n, region, y / unit * unit, end));
      if (FinishesInBody()) {
        RETURN_IF_ERROR(FinishRows(n, y / unit * unit, end));
      }
    }
    return columns_.Store(n, region);
  }

  // Each body finishes its own rows: nothing is added to them later.
  bool FinishesInBody() const {
    return finished_ && KeepsRows(g_) && !ReducesMajors(g_) && !t_.thrifty;
  }

  // Nothing but reductions of which tiles 16 rows apart share words: they are
  // made one after the other.
  bool OnlyPairs() const {
    for (const Reduction& r : t_.reductions) {
      if (!Joins(r) || joined_[t_.NumberOf(r)].together() != 32) {
        return false;
      }
    }
    return t_.reductions.size() == e_.roots.size();
  }

  absl::Status AddTiles(NestCode& n, const Region& region, int y) {
    for (int x = 0; x < region.columns; ++x) {
      for (const Reduction& r : t_.reductions) {
        if (!Now(r) || r.extremum >= 0) continue;
        ASSIGN_OR_RETURN(Vec words, terms_.Words(n, region, r, y, x));
        RETURN_IF_ERROR(AddPositions(n, r, words, y, x));
        Vec& accumulator = AccumulatorOf(r, y, x);
        RETURN_IF_ERROR(Accumulate(r, words, finished_, &accumulator));
        JoinedResult& joined = joined_[t_.NumberOf(r)];
        if (finished_ && Joins(r) && joined.pairs_words(y)) {
          Vec& first = AccumulatorOf(r, y - 16, x);
          first = joined.Paired(first, accumulator);
        }
      }
    }
    return absl::OkStatus();
  }

  // Of a reduction of this stage and a tile of the region: what the chain of
  // its kept tile has come to.
  Vec& AccumulatorOf(const Reduction& r, int y, int x) {
    size_t before = 0;
    for (const Reduction& other : t_.reductions) {
      if (&other == &r) break;
      before += Now(other) ? 1 : 0;
    }
    return accumulators_[(before * kept_rows_ + (KeepsRows(g_) ? y : 0)) *
                             kept_columns_ +
                         (KeepsColumns(g_) ? x : 0)];
  }

  // Positions of a reduction's extrema, before `words` are met.
  absl::Status AddPositions(NestCode& n, const Reduction& extremum, Vec words,
                            int y, int x) {
    for (const Reduction& r : t_.reductions) {
      if (!IsPositionOf(r, extremum)) continue;
      ASSIGN_OR_RETURN(const Vec here, terms_.Positions(n, r, y, x));
      Vec& accumulator = AccumulatorOf(r, y, x);
      if (!accumulator.valid()) {
        accumulator = here;
        continue;
      }
      ASSIGN_OR_RETURN(const Vec v, PositionFold(extremum, r, b_)
                                        .Earlier({AccumulatorOf(extremum, y, x),
                                                  accumulator},
                                                 {words, here}));
      if (finished_) {
        accumulator = v;
      } else {
        b_.Redirect(v, accumulator);
      }
    }
    return absl::OkStatus();
  }

  // In a block that holds all of the kept rows [first, end): their results.
  absl::Status FinishRows(NestCode& n, int first, int end) {
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = first; row < end; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          RETURN_IF_ERROR(Keep(n, r, row, c, AccumulatorOf(r, row, c)));
        }
      }
      if (!Joins(r)) continue;
      JoinedResult& joined = joined_[t_.NumberOf(r)];
      const int together = joined.together();
      for (int row = first; row < end; ++row) {
        const bool last_row = row + 1 == kept_rows_;
        if ((row + 1) % together != 0 && !last_row) continue;
        const int from = row / together * together;
        for (int c = 0; c < kept_columns_; ++c) {
          std::vector<Vec> partials, extrema;
          for (int t = from; t <= row; ++t) {
            partials.push_back(AccumulatorOf(r, t, c));
            if (r.extremum < 0) continue;
            extrema.push_back(AccumulatorOf(*t_.ExtremumOf(r), t, c));
          }
          RETURN_IF_ERROR(joined.Finish(n, from, c, partials, extrema,
                                        last_row && c + 1 == kept_columns_));
        }
      }
    }
    return absl::OkStatus();
  }

  // To scratch, what others read there.
  absl::Status Keep(NestCode& n, const Reduction& r, int row, int column,
                    Vec partial) {
    const bool read_back = e_.read_back[r.root];
    const bool unfinished =
        (r.dense && !Joins(r)) ||
        std::any_of(t_.reductions.begin(), t_.reductions.end(),
                    [&](const Reduction& p) {
                      return IsPositionOf(p, r) && !Joins(p);
                    });
    if (read_back && !unfinished && t_.reduced_grid.empty()) {
      ASSIGN_OR_RETURN(partial, joined_[t_.NumberOf(r)].Expanded(partial));
    } else if (!unfinished && !read_back) {
      return absl::OkStatus();
    }
    partials_.Store(n, t_.NumberOf(r), row, column, partial);
    return absl::OkStatus();
  }

  // A chain, as the TPU compiler has it, through one register per kept tile.
  absl::Status Accumulate(const Reduction& r, Vec value, bool local,
                          Vec* accumulator) {
    if (!accumulator->valid()) {
      *accumulator = value;
      return absl::OkStatus();
    }
    ASSIGN_OR_RETURN(Value v, EmitMonoid(b_, r.op, r.type, Value::Of(value),
                                         Value::Of(*accumulator)));
    if (local) {
      *accumulator = v.vec;
    } else {
      b_.Redirect(v.vec, *accumulator);
    }
    return absl::OkStatus();
  }

  absl::Status Leave(NestCode& n, const Region&) {
    if (FinishesInBody()) return absl::OkStatus();
    if (finished_) return FinishRows(n, 0, kept_rows_);
    b_.NewBlock("partials");
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = 0; row < kept_rows_; ++row) {
        for (int c = 0; c < kept_columns_; ++c) {
          partials_.Store(n, t_.NumberOf(r), row, c, AccumulatorOf(r, row, c));
        }
      }
    }
    b_.EndScope();
    return absl::OkStatus();
  }

  absl::Status Finish(NestCode& n) {
    for (int dim : t_.reduced_grid) {
      b_.BeginWhen(t_.WhenDim(dim), isa::When::Kind::kLast);
    }
    RETURN_IF_ERROR(JoinPeerParts(t_.reductions, b_));
    std::vector<int64_t> extent;
    for (size_t a = 0; a < g_.axes.size(); ++a) {
      extent.push_back(n.extent(static_cast<int>(a)));
    }
    for (const Reduction& r : t_.reductions) {
      if (!Now(r) || !r.dense || (finished_ && Joins(r))) continue;
      RETURN_IF_ERROR(
          FinishReduction(r, t_.ExtremumOf(r), g_, t_.cut.plan, extent, b_));
    }
    for (size_t k = 0; k < t_.reduced_grid.size(); ++k) b_.EndWhen();
    for (const Reduction& r : t_.reductions) {
      const bool expanded =
          finished_ && t_.reduced_grid.empty() && (!r.dense || Joins(r));
      if (Now(r) && e_.read_back[r.root] && !expanded) {
        RETURN_IF_ERROR(ExpandReduction(r, g_, partials_.count(), b_));
      }
    }
    if (!t_.epilogue || stage_ + 1 < e_.stages) return absl::OkStatus();
    const int dims = t_.grid_dims;
    for (int d = 0; d < dims; ++d) {
      b_.BeginWhen(t_.WhenDim(d), isa::When::Kind::kLast);
    }
    const ReduceEpilogue& rest = *t_.epilogue;
    NestCode nest(rest.e, rest.g, rest.plan, rest.places, b_);
    RETURN_IF_ERROR(nest.Run(NestCode::Hooks()));
    for (int d = 0; d < dims; ++d) b_.EndWhen();
    return absl::OkStatus();
  }

  const Expression& e_;
  const Geometry& g_;
  const ReduceTiling& t_;
  CodeBuilder& b_;
  PartialTiles partials_;
  ColumnSums columns_;
  ReduceTerms terms_;
  // Of the stage: per reduction and kept tile of the region.
  std::vector<Vec> accumulators_;
  std::vector<JoinedResult> joined_;  // per reduction
  int kept_rows_ = 1, kept_columns_ = 1;
  bool finished_ = false;  // the blocks of this step were joined
  int stage_ = 0;
};

}  // namespace

absl::Status WriteReduceStep(const Expression& e, const Geometry& g,
                             const ReduceTiling& tiling, CodeBuilder& b) {
  for (const ShiftedStream& s : tiling.cut.shifted) s.Fill(b);
  return ReduceCode(e, g, tiling, b).Step();
}

}  // namespace ptxla::lowering
