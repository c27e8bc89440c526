#include "hlo_backend/lowering/fusion/reduce_code.h"

#include <algorithm>
#include <vector>

#include "base/status.h"
#include "hlo_backend/lowering/fusion/column_sums.h"
#include "hlo_backend/lowering/fusion/geometry_facts.h"
#include "hlo_backend/lowering/fusion/partial_tiles.h"
#include "hlo_backend/lowering/fusion/reduce_chains.h"
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
        terms_(e, g, b),
        chains_(e, g, t, partials_, terms_, b) {}

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
    chains_.BeginStage(stage_);
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
  bool Now(const Reduction& r) const { return chains_.IsOfStage(r); }

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
    finished_ = n.joined();
    if (!n.joined()) {
      b_.BeginScope();
      b_.NewBlock("accumulators");
    }
    chains_.Start(n, region);
    return absl::OkStatus();
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
        RETURN_IF_ERROR(chains_.Add(n, r, words, y, x));
        JoinedResult& joined = joined_[t_.NumberOf(r)];
        if (finished_ && Joins(r) && joined.pairs_words(y)) {
          Vec& first = chains_.Of(r, y - 16, x);
          first = joined.Paired(first, chains_.Of(r, y, x));
        }
      }
    }
    return absl::OkStatus();
  }

  // In a block that holds all of the kept rows [first, end): their results.
  absl::Status FinishRows(NestCode& n, int first, int end) {
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = first; row < end; ++row) {
        for (int c = 0; c < chains_.columns(); ++c) {
          RETURN_IF_ERROR(Keep(n, r, row, c, chains_.Of(r, row, c)));
        }
      }
      if (!Joins(r)) continue;
      JoinedResult& joined = joined_[t_.NumberOf(r)];
      const int together = joined.together();
      for (int row = first; row < end; ++row) {
        const bool last_row = row + 1 == chains_.rows();
        if ((row + 1) % together != 0 && !last_row) continue;
        const int from = row / together * together;
        for (int c = 0; c < chains_.columns(); ++c) {
          std::vector<Vec> partials, extrema;
          for (int t = from; t <= row; ++t) {
            partials.push_back(chains_.Of(r, t, c));
            if (r.extremum < 0) continue;
            extrema.push_back(chains_.Of(*t_.ExtremumOf(r), t, c));
          }
          RETURN_IF_ERROR(
              joined.Finish(n, from, c, partials, extrema,
                            last_row && c + 1 == chains_.columns()));
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

  absl::Status Leave(NestCode& n, const Region&) {
    if (FinishesInBody()) return absl::OkStatus();
    if (finished_) return FinishRows(n, 0, chains_.rows());
    b_.NewBlock("partials");
    for (const Reduction& r : t_.reductions) {
      if (!Now(r)) continue;
      for (int row = 0; row < chains_.rows(); ++row) {
        for (int c = 0; c < chains_.columns(); ++c) {
          partials_.Store(n, t_.NumberOf(r), row, c, chains_.Of(r, row, c));
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
  ReduceChains chains_;
  std::vector<JoinedResult> joined_;  // per reduction
  bool finished_ = false;             // the blocks of this step were joined
  int stage_ = 0;
};

}  // namespace

absl::Status WriteReduceStep(const Expression& e, const Geometry& g,
                             const ReduceTiling& tiling, CodeBuilder& b) {
  for (const ShiftedStream& s : tiling.cut.shifted) s.Fill(b);
  return ReduceCode(e, g, tiling, b).Step();
}

}  // namespace ptxla::lowering
