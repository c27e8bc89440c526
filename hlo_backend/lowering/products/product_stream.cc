#include "hlo_backend/lowering/products/product_stream.h"

#include <algorithm>
#include <array>
#include <deque>
#include <utility>

#include "base/units.h"
#include "hlo_backend/lowering/products/stream_code.h"
#include "hlo_backend/lowering/products/stream_places.h"
#include "hlo_backend/lowering/products/stream_results.h"
#include "hlo_backend/lowering/products/stream_rows.h"
#include "hlo_backend/lowering/products/stream_walk.h"

namespace ptxla::lowering {
namespace {

using codegen::CodeBuilder;
using codegen::Vec;
using isa::Opcode;
using stream::Lane;
using stream::Push;

// The second operand of a 256-wide array goes in this long before the first.
constexpr int64_t kPrepAhead = 2;

class StreamEmitter {
 public:
  StreamEmitter(const ProductProblem& problem, const ProductTile& tile,
                const ArrayShape& arrays, const StreamParts& parts,
                Epilogue* epilogue, CodeBuilder* b)
      : problem_(problem),
        tile_(tile),
        arrays_(arrays),
        k_extent_(parts.k_extent),
        staging_(b->model().staging),
        walk_(problem, tile, arrays, parts),
        plan_(walk_.plan()),
        code_(b, static_cast<int>(parts.pace.share * b->model().vregs)),
        rows_(problem, tile, arrays, parts, walk_, &code_),
        results_(problem, tile, arrays, parts, walk_, rows_, epilogue, &code_),
        in_flight_(arrays.latency / plan_.group_cycles + 1),
        takes_late_(walk_.k_visits() > 1 && !parts.lhs.Converts() &&
                    !parts.rhs.Converts()) {
    latched_.fill(-1);
  }

  void Emit() {
    for (const Push& push : walk_.PushesOf(0)) PushWeights(0, push);
    for (int64_t v = 0; v < walk_.visits(); ++v) {
      AskForRows(v);
      if (v == 0) MakeRows(plan_.groups - 1);  // nothing is turned yet
      std::vector<Push> next;
      if (v + 1 < walk_.visits()) next = walk_.PushesOf(v + 1);
      size_t per_group = 0, pushed = 0;
      for (int64_t g = 0; g < plan_.groups; ++g) {
        Matmuls(v, g);
        MakeRows(g);
        rows_.Advance(Now());
        // What is pushed must not come before the last weights are latched.
        if (per_group == 0 && (staging_ > 1 || HasLatched(v))) {
          per_group = static_cast<size_t>(
              CeilOfRatio<int64_t>(next.size(), plan_.groups - g));
        }
        for (size_t n = 0; n < per_group && pushed < next.size(); ++n) {
          PushWeights(v + 1, next[pushed++]);
        }
        pending_.push_back({v, g});
        if (static_cast<int64_t>(pending_.size()) > in_flight_) TakeResults();
        while (!pending_.empty() && IsLate()) TakeResults();
        results_.Turn();
      }
    }
    while (!pending_.empty()) TakeResults();
    results_.Finish();
    code_.builder().Append(code_.scheduler().Finish("product"));
  }

 private:
  // Where an LHS is turned, the XLUs always have tiles to turn before what they
  // are asked for: values per row of the weights go through them visits before
  // these are pushed, a share with each group. They lie in memory until then.
  void AskForRows(int64_t visit) {
    if (rows_.turns_ahead() == 0) return;
    const int64_t ahead =
        2 + CeilOfRatio(rows_.turns_ahead(), plan_.groups * plan_.group_cycles);
    const int64_t end = std::min(visit + ahead + 1, walk_.visits());
    for (; rows_asked_ < end; ++rows_asked_) {
      const std::vector<Push> pushes = walk_.PushesOf(rows_asked_);
      asked_.insert(asked_.end(), pushes.begin(), pushes.end());
    }
  }

  void MakeRows(int64_t group) {
    const auto share =
        CeilOfRatio<int64_t>(asked_.size(), plan_.groups - group);
    for (int64_t n = 0; n < share; ++n) {
      rows_.MakeWeightRows(asked_.front(), Now());
      asked_.pop_front();
    }
  }

  void TakeResults() {
    const auto [visit, group] = pending_.front();
    pending_.pop_front();
    results_.Take(visit, group);
  }

  // Where loads set the pace and not the matmuls, results come in fewer groups:
  // behind the loads of so many, those of their sums would hold registers.
  bool IsLate() const {
    if (!takes_late_) return false;
    const auto [visit, group] = pending_.front();
    return results_.Due(visit, group) + arrays_.latency <= Now();
  }

  // The stream has come so far.
  int64_t Now() const {
    int64_t now = 0;
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      now = std::max(now, code_.scheduler().MatmulFree(mxu));
    }
    return now;
  }

  int Stage(int64_t visit) const { return static_cast<int>(visit % staging_); }

  // Have all MXUs that work in the visit latched its weights?
  bool HasLatched(int64_t visit) const {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      if (walk_.LaneOf(visit, mxu).active && latched_[mxu] != visit)
        return false;
    }
    return true;
  }

  void PushWeights(int64_t visit, const Push& push) {
    int64_t wish = 0;
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane other = walk_.LaneOf(visit, mxu);
      if (!other.active || other.weights != push.lane.weights) continue;
      wish = std::max(wish, code_.scheduler().PushFree(mxu, Stage(visit)));
    }
    const int part = walk_.Pass(visit).rhs;
    const std::vector<Vec> y = rows_.Weights(push, push.lane.col, part, wish);
    std::vector<Vec> x;
    if (plan_.form == WeightForm::kTwoRows) {
      x = y;
    } else if (push.two_columns) {
      x = rows_.Weights(push, push.lane.col + 128, part, wish);
    }
    PushRows(visit, y, x, push, wish);
  }

  // Pushes weight registers for the lanes that share them.
  void PushRows(int64_t visit, const std::vector<Vec>& y,
                const std::vector<Vec>& x, const Push& push, int64_t wish) {
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = walk_.LaneOf(visit, mxu);
      if (!lane.active || lane.weights != push.lane.weights) continue;
      for (size_t i = 0; i < y.size(); ++i) {
        if (!x.empty()) {
          code_.PlaceMxu(Opcode::kVmatprepSubr, mxu, x[i], wish - kPrepAhead);
        }
        code_.PlaceMxu(PushOf(problem_.numbers, arrays_.bf16,
                              walk_.Pass(visit).rhs, problem_.rhs.transposed),
                       mxu, y[i], wish,
                       push.row + static_cast<int>(i) * arrays_.push_rows,
                       push.block, Stage(visit));
      }
    }
  }

  // One group of LHS rows through every MXU.
  void Matmuls(int64_t visit, int64_t group) {
    std::array<Operands, isa::kMaxUnits> shared;
    for (int mxu = 0; mxu < arrays_.mxus; ++mxu) {
      const Lane lane = walk_.LaneOf(visit, mxu);
      const int64_t row = lane.row + group * plan_.rows;
      if (!walk_.Multiplies(visit, lane, row)) continue;
      int64_t wish = results_.MatmulWish(mxu);
      const bool latches = latched_[mxu] != visit;
      latched_[mxu] = visit;
      if (latches) {
        wish = std::max(wish, code_.scheduler().LatchReady(mxu, Stage(visit)));
      }
      Operands& rows = shared[lane.rows];
      if (rows.first.empty()) rows = Load(visit, lane.batch, row, wish);
      for (size_t i = 0; i < rows.first.size(); ++i) {
        if (!rows.second.empty()) {
          code_.PlaceMxu(Opcode::kVmatprepMubr, mxu, rows.second[i],
                         wish - kPrepAhead);
        }
        const int32_t latch =
            latches && i == 0 ? Stage(visit) + 1 : codegen::kNone;
        code_.PlaceMxu(
            MatmulOf(problem_.numbers, arrays_.bf16, walk_.Pass(visit).lhs),
            mxu, rows.first[i], wish, 0, codegen::kNone, latch);
      }
    }
  }

  // Registers of rows for one matmul; second ones for 256-wide arrays.
  struct Operands {
    std::vector<Vec> first, second;
  };
  Operands Load(int64_t visit, int64_t batch, int64_t row, int64_t wish) {
    const int64_t k = walk_.K(visit);
    const auto load = [&](int64_t r, int64_t column) {
      return rows_.Lhs(batch, r, column, walk_.Pass(visit).lhs, wish);
    };
    Operands rows;
    rows.first = load(row, k);
    if (plan_.form == WeightForm::kTwoColumns) {
      rows.second = rows.first;
    } else if (plan_.form == WeightForm::kTwoRows) {
      const int64_t next = row + arrays_.unit;
      if (next < tile_.block_m) rows.second = load(next, k);
    } else if (plan_.tile_k == 256 && k_extent_ - k > 128) {
      rows.second = load(row, k + 128);
    }
    return rows;
  }

  const ProductProblem& problem_;
  const ProductTile& tile_;
  const ArrayShape& arrays_;
  const int64_t k_extent_;
  const int staging_;
  const stream::Walk walk_;
  const VisitPlan& plan_;
  stream::Code code_;
  stream::Rows rows_;
  stream::Results results_;
  // Visits whose weights the MXUs hold.
  std::array<int64_t, isa::kMaxUnits> latched_;
  // Groups whose results are still in the MXUs: (visit, group).
  std::deque<std::pair<int64_t, int64_t>> pending_;
  const int64_t in_flight_;
  // There are sums to load, and no conversions, which need the vector units
  // more than pops do.
  const bool takes_late_;
  // Weights that wait for their values per row; visits up to the last of them.
  std::deque<Push> asked_;
  int64_t rows_asked_ = 0;
};

}  // namespace

void EmitStream(const ProductProblem& problem, const ProductTile& tile,
                const ArrayShape& arrays, const StreamParts& parts,
                Epilogue* epilogue, CodeBuilder* b) {
  StreamEmitter(problem, tile, arrays, parts, epilogue, b).Emit();
}

}  // namespace ptxla::lowering
